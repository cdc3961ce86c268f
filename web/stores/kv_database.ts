/** Deno KV as both stores use it. @module */

import { isSigError } from "@sig/core";
import {
  isKvBusy,
  type Kv,
  openKv,
  retryWhileBusy,
} from "@sig/consumer/connect";
import { storeUnavailable } from "./store_unavailable.ts";

/** How long a busy database is asked again, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

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
  const kv = await openKv(path, {
    timeoutMs: BUSY_TIMEOUT_MS,
    unavailable: storeUnavailable,
  });
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

function isBusy(error: unknown): boolean {
  return error instanceof Conflict || isKvBusy(error);
}
