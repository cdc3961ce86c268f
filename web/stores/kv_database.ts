/** Deno KV as both stores use it. @module */

import { isSigError } from "@sig/core";
import { retryWhileBusy } from "@sig/consumer/connect";
import { storeUnavailable } from "./store_unavailable.ts";

/** How long a busy database is asked again, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/** Where an entry is. */
export type Key = readonly string[];

/** An entry, or that there is none. */
export interface KvFound<T> {
  readonly value: T | null;
  readonly versionstamp: string | null;
}

/** As much of Deno KV as is used: its own types need an unstable flag. */
export interface Kv {
  get<T>(key: Key): Promise<KvFound<T>>;
  atomic(): KvTransaction;
  list<T>(
    selector: { prefix: Key },
    options: { limit: number; cursor?: string },
  ):
    & AsyncIterable<KvFound<T> & { readonly key: Key; readonly value: T }>
    & { readonly cursor: string };
  close(): void;
}

/** Writes that happen together or not at all. */
export interface KvTransaction {
  check(found: { key: Key; versionstamp: string | null }): KvTransaction;
  set(key: Key, value: unknown, options: { expireIn: number }): KvTransaction;
  delete(key: Key): KvTransaction;
  commit(): Promise<{ readonly ok: boolean }>;
}

/** Somebody else changed the entry between our look and our write. */
export class Conflict extends Error {
  override readonly name = "Conflict";
}

/** An open database. */
export interface KvDatabase {
  /**
   * Does the work, which throws {@linkcode Conflict} to be done again.
   *
   * @throws {SigError} `store_unavailable`, and the work's own `SigError`s.
   */
  run<T>(work: (kv: Kv) => Promise<T>): Promise<T>;
  /** A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Opens Deno KV: a file that the processes of one machine share, or Deno
 * Deploy's database (no path).
 *
 * Deno offers KV only to programs started with `--unstable-kv`; a file needs
 * `--allow-read` and `--allow-write` for it, too.
 *
 * @throws {SigError} `store_unavailable`, with what to do.
 */
export async function openKvDatabase(path?: string): Promise<KvDatabase> {
  const kv = await openKv(path);
  // A file has one writer at a time; asking with hundreds of transactions at
  // once would only starve other processes. A served database has many.
  const turn = path === undefined ? <T>(work: () => T) => work() : oneAtATime();
  let closed = false;
  return {
    run: (work) => untilDone(() => turn(() => work(kv))),
    close() {
      if (!closed) kv.close();
      closed = true;
      return Promise.resolve();
    },
  };
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

async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await retryWhileBusy(work, { isBusy, timeoutMs: BUSY_TIMEOUT_MS });
  } catch (error) {
    if (error instanceof RangeError || isSigError(error)) throw error;
    throw storeUnavailable("Deno KV failed", error);
  }
}

/** SQLite gives way at once where two processes write: nothing was written. */
function isBusy(error: unknown): boolean {
  return error instanceof Conflict ||
    error instanceof Error && /database (table )?is locked/.test(error.message);
}

async function openKv(path: string | undefined): Promise<Kv> {
  const { openKv } = Deno as unknown as {
    readonly openKv?: (path?: string) => Promise<Kv>;
  };
  if (openKv === undefined) {
    throw storeUnavailable(
      "this Deno offers no KV",
      undefined,
      "Start it with deno run --unstable-kv …, or choose another store.",
    );
  }
  try {
    return await retryWhileBusy(() => openKv(path), {
      isBusy,
      timeoutMs: BUSY_TIMEOUT_MS,
    });
  } catch (error) {
    const isDenied = error instanceof Deno.errors.NotCapable;
    throw storeUnavailable(
      isDenied
        ? "the KV file must not be used (permission denied)"
        : "the KV database can't be opened",
      error,
      isDenied
        ? "Allow the file with --allow-read and --allow-write."
        : "Its folder must exist, be writable, and the file be a KV database.",
    );
  }
}
