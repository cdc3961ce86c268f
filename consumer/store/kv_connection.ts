/** Deno KV as the record store uses it. @module */

import { isSigError } from "@sig/core";
import type { Unavailable } from "./record_store.ts";
import { loadSqlite } from "./sqlite_file.ts";
import { DeadlineOver, retryWhileBusy, withDeadline } from "./waiting.ts";

/** How long one call may take in all, in milliseconds. */
const TIMEOUT_MS = 5_000;

/**
 * Opens Deno KV: a file that the processes of one machine share, or Deno
 * Deploy's database (no path).
 *
 * Deno offers KV only to programs started with `--unstable-kv`; a file needs
 * `--allow-read` and `--allow-write` for it, too.
 *
 * @throws {SigError} what `unavailable` makes, with what to do.
 */
async function openKv(
  path: string | undefined,
  unavailable: Unavailable,
): Promise<Deno.Kv> {
  const { openKv } = Deno as Partial<typeof Deno>;
  if (openKv === undefined) {
    throw unavailable(
      "this Deno offers no KV",
      undefined,
      "Start it with deno run --unstable-kv …, or choose another store.",
    );
  }
  if (path !== undefined && isOfAnother(path)) {
    throw unavailable(
      "the file belongs to another program",
      undefined,
      "Name another file: KV would write its tables into this one.",
    );
  }
  const open = () => openKv(path);
  try {
    return await withDeadline(
      TIMEOUT_MS,
      () => retryWhileBusy(open, { isBusy: isKvBusy, timeoutMs: TIMEOUT_MS }),
    );
  } catch (error) {
    throw error instanceof Deno.errors.NotCapable
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

/**
 * Whether the file is a database that has tables, and none of KV's: Deno adds
 * its own to any. What can't be looked at is for Deno to judge.
 */
function isOfAnother(path: string): boolean {
  const sqlite = loadSqlite();
  if (sqlite === undefined) return false;
  try {
    if (!Deno.statSync(path).isFile) return false;
    // Not read-only: then a log would be left where the database has one.
    const database = new sqlite.DatabaseSync(path);
    try {
      const { tables, own } = database.prepare(
        "SELECT count(*) AS tables, " +
          // Made first, of whatever version of KV.
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
  /** Always `Conflict`. */
  override readonly name = "Conflict";
}

/** An open database. */
export interface KvDatabase {
  /**
   * Does the work, which throws {@linkcode Conflict} to be repeated.
   *
   * @throws {SigError} `store_unavailable`, and the work's own `SigError`s.
   */
  run<T>(work: (kv: Deno.Kv) => Promise<T>): Promise<T>;
  /** A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Opens Deno KV for work that is repeated while it is busy.
 *
 * @throws {SigError} as {@linkcode openKv}.
 */
export async function openKvDatabase(
  path: string | undefined,
  unavailable: Unavailable,
): Promise<KvDatabase> {
  const kv = await openKv(path, unavailable);
  // A file has one writer at a time: hundreds of transactions at once would
  // only starve other processes. A served database has many.
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
              () => turn(() => signal.aborted ? never() : work(kv)),
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

/** What was given up is not done later. */
function never(): Promise<never> {
  return Promise.reject(new DeadlineOver());
}

/** Lets pieces of work through in the order in which they came. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}

/** SQLite gives way at once where two processes write: nothing was written. */
function isKvBusy(error: unknown): boolean {
  return error instanceof Error &&
    /database (table )?is locked/.test(error.message);
}
