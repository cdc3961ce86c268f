/** Opens Deno KV for the record store. @module */

import type * as fs from "node:fs";
import { isSigError } from "@sig/core";
import { loadBuiltin } from "@sig/jose/internal";
import { isNotCapable, type Unavailable } from "./record_store.ts";
import { loadSqlite, requireClosedFolders } from "./sqlite_file.ts";
import { DeadlineOver, retryWhileBusy, withDeadline } from "./waiting.ts";

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
    throw isNotCapable(error)
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
export class Conflict extends Error {
  override readonly name = "Conflict";
}

interface KvDatabase {
  /**
   * Runs the work. Work that throws {@linkcode Conflict} is repeated.
   *
   * @throws {SigError} `store_unavailable`, and the work's own `SigError`s.
   */
  run<T>(work: (kv: Deno.Kv) => Promise<T>): Promise<T>;
  /** Closes the database. Can be called more than once. */
  close(): Promise<void>;
}

/**
 * Opens Deno KV. Work is repeated while the database is busy.
 *
 * @throws {SigError} as {@linkcode openKv}.
 */
export async function openKvDatabase(
  path: string | undefined,
  unavailable: Unavailable,
): Promise<KvDatabase> {
  const kv = await openKv(path, unavailable);
  // A file has one writer at a time: hundreds of concurrent transactions would
  // only block other processes. A served database has many writers.
  const turn = path === undefined ? <T>(work: () => T) => work() : oneAtATime();
  const isBusy = (error: unknown) =>
    error instanceof Conflict || isKvBusy(error);
  let closed = false;
  return {
    async run(work) {
      try {
        return await withDeadline(
          TIMEOUT_MS,
          (signal) =>
            retryWhileBusy(
              () => turn(() => signal.aborted ? rejectOverdue() : work(kv)),
              { isBusy, timeoutMs: TIMEOUT_MS },
            ),
        );
      } catch (error) {
        if (isSigError(error)) throw error;
        throw error instanceof DeadlineOver
          ? unavailable("Deno KV does not respond in time", error)
          : unavailable(closed ? "it is closed" : "Deno KV failed", error);
      }
    },
    close() {
      if (!closed) kv.close();
      closed = true;
      return Promise.resolve();
    },
  };
}

/** Prevents work from starting after its deadline. */
function rejectOverdue(): Promise<never> {
  return Promise.reject(new DeadlineOver());
}

/** Runs pieces of work one at a time, in the order of the calls. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}

/** Nothing was written then. */
function isKvBusy(error: unknown): boolean {
  return error instanceof Error &&
    /database (table )?is locked/.test(error.message);
}
