/** Records in Deno KV. @module */

import type * as fs from "node:fs";
import { isSigError } from "@sig/core";
import { loadBuiltin } from "@sig/jose/internal";
import {
  FORBIDDEN,
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
import { loadSqlite, requireClosedFolders } from "./sqlite_file.ts";
import { DeadlineOver, retryWhileBusy, withDeadline } from "./waiting.ts";

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
  const kv = await openKv(path, unavailable);
  const isBusy = (error: unknown) =>
    error instanceof Conflict || isKvBusy(error);
  const counts = new Map<string, Promise<Count>>();
  let closed = false;

  /** Runs work, which is repeated after a conflict and while KV is busy. */
  async function run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await withDeadline(
        TIMEOUT_MS,
        (signal) =>
          retryWhileBusy(work, { isBusy, timeoutMs: TIMEOUT_MS, signal }),
      );
    } catch (error) {
      if (isSigError(error)) throw error;
      throw error instanceof DeadlineOver
        ? unavailable("Deno KV does not respond in time", error)
        : unavailable(closed ? "it is closed" : "Deno KV failed", error);
    }
  }

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
      run(async () => {
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
      return await run(async () => {
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
      run(async () => {
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
      run(async () => {
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
    close() {
      if (!closed) kv.close();
      closed = true;
      return Promise.resolve();
    },
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

/** Time limit for one call in milliseconds, retries included. */
const TIMEOUT_MS = 5_000;

/**
 * Opens Deno KV: a file shared by the processes of one machine, or Deno
 * Deploy's database (no path).
 *
 * Deno offers KV only to programs started with `--unstable-kv`. A file also
 * needs `--allow-read` and `--allow-write`.
 *
 * @throws {SigError} the error of `unavailable`, with a hint.
 */
async function openKv(
  path: string | undefined,
  unavailable: Unavailable,
): Promise<Deno.Kv> {
  const { Deno: deno } = globalThis as { Deno?: Partial<typeof Deno> };
  const openKv = deno?.openKv;
  if (openKv === undefined) {
    throw unavailable(
      deno === undefined ? "only Deno offers KV" : "this Deno offers no KV",
      undefined,
      deno === undefined
        ? "Choose another store."
        : "Start it with deno run --unstable-kv …, or choose another store.",
    );
  }
  if (path !== undefined && belongsToOtherProgram(path)) {
    throw unavailable(
      "the file belongs to another program",
      undefined,
      "Name another file: KV would write its tables into this one.",
    );
  }
  if (path !== undefined) requireNotOpen(path, unavailable);
  const open = () => openKv(path);
  try {
    return await withDeadline(
      TIMEOUT_MS,
      () => retryWhileBusy(open, { isBusy: isKvBusy, timeoutMs: TIMEOUT_MS }),
    );
  } catch (error) {
    throw FORBIDDEN.test(String(error))
      ? unavailable(
        "the KV file must not be used (permission denied)",
        error,
        "Allow the file with --allow-read and --allow-write: sig, sig api and sig web have both, sig-api and sig-web have not.",
      )
      : unavailable(
        "the KV database can't be opened",
        error,
        "Its folder must exist, be writable, and the file be a KV database.",
      );
  }
}

/** Refuses a file that any user can write or replace. */
function requireNotOpen(path: string, unavailable: Unavailable): void {
  const files = loadBuiltin("node:fs") as typeof fs | undefined;
  const file = files?.statSync(path, { throwIfNoEntry: false });
  if (files === undefined || file === undefined) return;
  if (Deno.build.os === "windows") return;
  if ((file.mode & 0o002) !== 0) {
    throw unavailable(
      `any user can write the file ${path}`,
      undefined,
      "If you know that nobody else has written it, run chmod o-w on it.",
    );
  }
  requireClosedFolders(files, path, unavailable);
}

/**
 * Returns whether the file is a database with tables, but without those of KV:
 * Deno would add its tables to any database. Returns false if the file can't be
 * read; opening it reports the error.
 */
function belongsToOtherProgram(path: string): boolean {
  const sqlite = loadSqlite();
  if (sqlite === undefined) return false;
  try {
    if (!Deno.statSync(path).isFile) return false;
    // A read-only connection would leave a log file if the database uses one.
    const database = new sqlite.DatabaseSync(path);
    try {
      const { tables, own } = database.prepare(
        "SELECT count(*) AS tables, " +
          // Every version of KV creates one of these tables first.
          "sum(name IN ('migration_state', 'kv')) AS own FROM sqlite_schema",
      ).get()!;
      return Number(tables) > 0 && Number(own) === 0;
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

/** Another process changed the entry between our read and our write. */
class Conflict extends Error {
  override readonly name = "Conflict";
}

/** Nothing was written then. */
function isKvBusy(error: unknown): boolean {
  return error instanceof Error &&
    /database (table )?is locked/.test(error.message);
}
