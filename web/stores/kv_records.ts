/** Sessions, codes and the like in Deno KV. @module */

import { Conflict, type KvDatabase } from "./kv_database.ts";
import {
  kindFull,
  RECORD_LIMITS,
  type RecordKind,
  type RecordStore,
} from "./record_store.ts";

/** What is kept; the version is the database's own. */
interface Entry {
  readonly text: string;
  readonly expiresAtMs: number;
}

/** Records of one page. */
const PAGE_RECORDS = 500;

/**
 * Keeps records in Deno KV. `expireIn` is only a sweep there: what counts is the
 * stored instant. The database counts nothing, so records of a kind are counted
 * with the first one and whenever a tenth of its limit was added since: each
 * process may exceed the limit by that much.
 *
 * @param limits how many of a kind at most; those of `RECORD_LIMITS` unless told.
 */
export function keepRecordsInKv(
  database: KvDatabase,
  limits: Partial<Record<RecordKind, number>> = {},
): RecordStore {
  const known = new Map<RecordKind, { counted: number; added: number }>();

  async function requireRoom(kind: RecordKind, at: Date): Promise<void> {
    const limit = limits[kind] ?? RECORD_LIMITS[kind];
    let count = known.get(kind);
    if (count === undefined || count.added >= limit / 10) {
      count = { counted: 0, added: 0 };
      let from: string | undefined;
      do {
        const page = await store.list(kind, at, from);
        count.counted += page.records.length;
        from = page.next;
      } while (from !== undefined);
      known.set(kind, count);
    }
    if (count.counted + count.added < limit) {
      count.added++;
      return;
    }
    // The next one counts again: some have expired meanwhile.
    known.delete(kind);
    throw kindFull(kind, limit);
  }

  const store: RecordStore = {
    get: (kind, id, at) =>
      database.run(async (kv) => {
        const { value, versionstamp } = await kv.get<Entry>(keyOf(kind, id));
        return value !== null && at.getTime() < value.expiresAtMs
          ? { ...value, version: versionstamp ?? "" }
          : undefined;
      }),
    async put(kind, id, { text, expiresAtMs }, over, at) {
      if (over === null) await requireRoom(kind, at);
      return await database.run(async (kv) => {
        const key = keyOf(kind, id);
        const found = await kv.get<Entry>(key);
        const isThere = found.value !== null &&
          at.getTime() < found.value.expiresAtMs;
        if ((isThere ? found.versionstamp : null) !== over) return false;
        const { ok } = await kv.atomic()
          .check({ key, versionstamp: found.versionstamp })
          .set(key, { text, expiresAtMs }, {
            expireIn: Math.max(expiresAtMs - at.getTime(), 1_000),
          }).commit();
        return ok;
      });
    },
    take: (kind, id, at) =>
      database.run(async (kv) => {
        const key = keyOf(kind, id);
        const { value, versionstamp } = await kv.get<Entry>(key);
        if (value === null || !(at.getTime() < value.expiresAtMs)) {
          return undefined;
        }
        const { ok } = await kv.atomic().check({ key, versionstamp })
          .delete(key).commit();
        if (!ok) throw new Conflict();
        return { ...value, version: versionstamp ?? "" };
      }),
    list: (kind, at, from) =>
      database.run(async (kv) => {
        const entries = kv.list<Entry>({ prefix: ["sig", "record", kind] }, {
          limit: PAGE_RECORDS,
          ...(from === undefined ? {} : { cursor: from }),
        });
        const records = [];
        let seen = 0;
        for await (const { key, value, versionstamp } of entries) {
          seen++;
          if (!(at.getTime() < value.expiresAtMs)) continue;
          const id = String(key.at(-1));
          records.push({ id, ...value, version: versionstamp ?? "" });
        }
        return seen < PAGE_RECORDS
          ? { records }
          : { records, next: entries.cursor };
      }),
    close: () => database.close(),
  };
  return store;
}

function keyOf(kind: RecordKind, id: string): readonly string[] {
  return ["sig", "record", kind, id];
}
