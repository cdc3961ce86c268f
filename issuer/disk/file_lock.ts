/** The lock of an issuer's directory (docs/protocol.md §11). @module */

import { SigError } from "@sig/core";
import { type DiskFile, look, tryOpenFile } from "./disk.ts";
import { requirePlainFile } from "./durable_file.ts";

/** Longest wait between two tries, in milliseconds. */
const MAX_PAUSE_MS = 10;

/**
 * Waits for an exclusive lock on the file of that name and returns it open;
 * closing it gives up the lock, and so does the end of the process.
 *
 * @param kept the file as it was opened for an earlier lock, and is used by
 * nobody else: a lock excludes only who has opened the file on their own. It is
 * closed when it does not serve.
 * @throws {SigError} `feed_locked` after `timeoutMs`, `write_failed`,
 * `invalid_metadata` when it is not a plain file
 */
export async function acquireLock(
  path: string,
  timeoutMs: number,
  kept?: DiskFile,
): Promise<DiskFile> {
  const again = kept && tryToLock(kept, path);
  const first = again ?? tryOnce(path);
  if (first !== undefined) return first;
  return await poll(() => tryOnce(path), timeoutMs);
}

/**
 * Locks an open file as well.
 *
 * @throws {SigError} `feed_locked` after `timeoutMs`, `write_failed`
 */
export async function lockFile(
  file: DiskFile,
  timeoutMs: number,
): Promise<void> {
  if (file.tryLock()) return;
  await poll(() => file.tryLock() || undefined, timeoutMs);
}

function tryOnce(path: string): DiskFile | undefined {
  const entry = look(path);
  if (entry !== undefined) requirePlainFile(path, entry.kind);
  // A new file is never made through a link; for reading as well, since a FIFO
  // that has come in between would wait for its reader.
  const how = entry === undefined
    ? { createNew: true, mode: 0o600 }
    : { create: false };
  const file = tryOpenFile(path, { read: true, write: true, ...how });
  return file && tryToLock(file, path);
}

function tryToLock(file: DiskFile, path: string): DiskFile | undefined {
  let held = false;
  try {
    // A lock file that was deleted meanwhile excludes nobody any more; a link
    // that has come in between is not what was opened.
    held = file.tryLock() && file.isWhat(path, look(path));
  } finally {
    if (!held) file.close();
  }
  return held ? file : undefined;
}

/** Asks again and again, at uneven intervals, so that waiters don't march in step. */
async function poll<T>(
  ask: () => T | undefined,
  timeoutMs: number,
): Promise<T> {
  let expired = timeoutMs <= 0;
  const deadline = setTimeout(() => expired = true, Math.max(0, timeoutMs));
  try {
    for (
      let longest = 1;
      !expired;
      longest = Math.min(longest + 1, MAX_PAUSE_MS)
    ) {
      await pause(Math.random() * longest);
      const got = ask();
      if (got !== undefined) return got;
    }
  } finally {
    clearTimeout(deadline);
  }
  throw locked(timeoutMs);
}

/** The error of a lock that somebody else has. */
export function locked(timeoutMs: number): SigError {
  return new SigError(
    "feed_locked",
    `Cannot append: another writer holds the feed's lock (waited ${timeoutMs} ms)`,
    {
      context: {
        timeout_ms: timeoutMs,
        hint: "Try again when the other writer is done.",
      },
    },
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
