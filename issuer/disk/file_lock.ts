/** The lock of an issuer's directory (docs/protocol.md §11). @module */

import { SigError } from "@sig/core";
import { type DiskFile, look, tryOpenFile } from "./disk.ts";
import { requirePlainFile } from "./durable_file.ts";

/** Maximum wait between two attempts, in milliseconds. */
const MAX_PAUSE_MS = 10;

/**
 * Waits for an exclusive lock on a file and returns the open file. Closing it,
 * or the end of the process, releases the lock.
 *
 * @param kept the file, still open from an earlier lock and not in use: a lock
 * excludes only other openings of the file. It is closed if it can't be used.
 * @throws {SigError} `feed_locked` after `timeoutMs`, `write_failed`,
 * `invalid_metadata` if the path is not a plain file
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

/** Locks an open file; throws `feed_locked` after `timeoutMs`. */
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
  // A new file is never created through a link. Opened for reading too, since
  // opening a FIFO for writing alone would wait for its reader.
  const how = entry === undefined
    ? { createNew: true, mode: 0o600 }
    : { create: false };
  const file = tryOpenFile(path, { read: true, write: true, ...how });
  return file && tryToLock(file, path);
}

function tryToLock(file: DiskFile, path: string): DiskFile | undefined {
  let held = false;
  try {
    // A deleted lock file excludes no other process, and a path that has become
    // a link no longer names the opened file.
    held = file.tryLock() && file.isOpenOf(path, look(path));
  } finally {
    if (!held) file.close();
  }
  return held ? file : undefined;
}

/** Retries at random intervals, so that processes don't retry in step. */
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

export function locked(timeoutMs: number): SigError {
  return new SigError("feed_locked", {
    action: "append",
    reason: `another writer holds the feed's lock (waited ${timeoutMs} ms)`,
    context: {
      timeout_ms: timeoutMs,
      hint: "Try again when the other writer is done.",
    },
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Keeps one file open between appends. The caller that takes it must check
 * whether its path still names it.
 */
export class ReusableFile {
  #file: DiskFile | undefined;
  #closed = false;

  /**
   * Returns the file for exclusive use by the caller. A concurrent caller opens
   * its own file, so that locks also exclude within one store.
   */
  take(): DiskFile | undefined {
    const file = this.#file;
    this.#file = undefined;
    return file;
  }

  /** Releases the file's lock and keeps the file, if none is kept yet. */
  keep(file: DiskFile): void {
    if (!this.#closed && this.#file === undefined && file.unlock()) {
      this.#file = file;
    } else {
      file.close();
    }
  }

  /** Closes the kept file; no file is kept from now on. */
  close(): void {
    this.#closed = true;
    this.take()?.close();
  }
}
