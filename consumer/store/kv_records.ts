/** Records in Deno KV. @module */

import {
  isLive,
  kindFull,
  listRecords,
  type RecordKind,
  type RecordStore,
  requireRecordSize,
  type ShownStore,
  type StoredRecord,
  type Unavailable,
} from "./record_store.ts";
import { Conflict, openKvDatabase } from "./kv_connection.ts";

const PAGE_RECORDS = 500;

/**
 * Time in milliseconds after which the records of a full kind are counted
 * again.
 */
const RECOUNT_MS = 5_000;

/** An entry of the database. The version is the database's own. */
interface Entry {
  /** The text in UTF-8. A string would take one or two bytes per character. */
  readonly text: Uint8Array;
  readonly expiresAtMs: number | null;
}

interface Count {
  readonly countedAtMs: number;
  readonly found: number;
  added: number;
}

/**
 * Opens Deno KV as a record store: a file shared by the processes of one
 * machine, or Deno Deploy's database (no path).
 *
 * Deno offers KV only to programs started with `--unstable-kv`. A file also
 * needs `--allow-read` and `--allow-write`. `expireIn` only removes old
 * records; the stored expiry decides. The database does not count records, so
 * those of a kind are counted at the first put and after each tenth of the
 * limit: each process may exceed the limit by that much.
 *
 * @throws {SigError} `store_unavailable`, with a hint.
 */
export async function openKvStore(
  path: string | undefined,
  { place, unavailable }: ShownStore,
): Promise<RecordStore> {
  const database = await openKvDatabase(path, unavailable);
  const counts = new Map<string, Promise<Count>>();

  async function countRecords(kind: RecordKind, at: Date): Promise<Count> {
    let found = 0;
    for await (const _ of listRecords(store, kind, at)) found++;
    return { countedAtMs: at.getTime(), found, added: 0 };
  }

  async function requireRoom(kind: RecordKind, at: Date): Promise<void> {
    const { name, maxRecords: limit } = kind;
    if (limit === undefined) return;
    // Concurrent puts share one count.
    const counting = counts.get(name) ?? countRecords(kind, at);
    counts.set(name, counting);
    const count = await counting.catch((error) => {
      counts.delete(name);
      throw error;
    });
    const isFull = count.found + count.added >= limit;
    const isOld = Math.abs(at.getTime() - count.countedAtMs) >= RECOUNT_MS;
    if (counts.get(name) === counting) {
      if (isFull ? isOld : count.added >= limit / 10) counts.delete(name);
    }
    if (!isFull) count.added++;
    else if (isOld) await requireRoom(kind, at);
    else throw kindFull(kind);
  }

  const store: RecordStore = {
    place,
    get: (kind, id, at) =>
      database.run(async (kv) => {
        const found = await kv.get<Entry>(keyOf(kind, id));
        return recordOf(found, at, unavailable);
      }),
    async put(kind, id, { text, expiresAtMs }, over, at) {
      requireRecordSize(text, unavailable);
      if (over === null) await requireRoom(kind, at);
      const entry: Entry = {
        text: new TextEncoder().encode(text),
        expiresAtMs,
      };
      return await database.run(async (kv) => {
        const key = keyOf(kind, id);
        const found = await kv.get<Entry>(key);
        const old = recordOf(found, at, unavailable);
        if ((old?.version ?? null) !== over) return false;
        const { ok } = await kv.atomic()
          .check({ key, versionstamp: found.versionstamp })
          .set(
            key,
            entry,
            expiresAtMs === null ? undefined : {
              expireIn: Math.max(expiresAtMs - at.getTime(), 1_000),
            },
          ).commit();
        return ok;
      });
    },
    take: (kind, id, at) =>
      database.run(async (kv) => {
        const key = keyOf(kind, id);
        const found = await kv.get<Entry>(key);
        const record = recordOf(found, at, unavailable);
        if (record === undefined) return undefined;
        const { versionstamp } = found;
        const { ok } = await kv.atomic().check({ key, versionstamp })
          .delete(key).commit();
        if (!ok) throw new Conflict();
        return record;
      }),
    list: (kind, at, from) =>
      database.run(async (kv) => {
        const entries = kv.list<Entry>({ prefix: keyOf(kind) }, {
          limit: PAGE_RECORDS,
          ...(from === undefined ? {} : { cursor: from }),
        });
        const records = [];
        let seen = 0;
        for await (const found of entries) {
          seen++;
          const record = recordOf(found, at, unavailable);
          if (record === undefined) continue;
          records.push({ id: String(found.key.at(-1)), ...record });
        }
        return seen < PAGE_RECORDS
          ? { records }
          : { records, next: entries.cursor };
      }),
    close: () => database.close(),
  };
  return store;
}

function keyOf({ name }: RecordKind, ...id: readonly string[]): Deno.KvKey {
  return ["sig", "records", name, ...id];
}

function recordOf(
  { value, versionstamp }: Deno.KvEntryMaybe<Entry>,
  at: Date,
  unavailable: Unavailable,
): StoredRecord | undefined {
  if (value === null) return undefined;
  const { text, expiresAtMs } = value;
  if (
    !(text instanceof Uint8Array) || versionstamp === null ||
    !(expiresAtMs === null || typeof expiresAtMs === "number")
  ) throw unavailable("it contains something other than records");
  if (!isLive(value, at)) return undefined;
  return {
    text: new TextDecoder().decode(text),
    expiresAtMs,
    version: versionstamp,
  };
}
