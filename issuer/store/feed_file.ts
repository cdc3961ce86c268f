// deno-lint-ignore-file require-await -- the contract's methods answer with promises
/** The feed's file under the lock (docs/protocol.md §11). @module */

import { isSigError, SigError } from "@sig/core";
import type { DiskFile, Entry } from "../disk/disk.ts";
import { createDurably, type FaultHooks } from "../disk/durable_file.ts";
import type { OpenFeed } from "./feed_store.ts";
import { lockFile } from "../disk/file_lock.ts";

/** What a feed's file needs of its store. */
export interface FeedFileContext {
  /** The private directory, where torn tails are kept. */
  readonly folder: string;
  /** Milliseconds to wait for the feed's own lock. */
  readonly timeoutMs: number;
  /** For tests only. */
  readonly faults: FaultHooks;
  /** Throws when an earlier failure could not be undone. */
  readonly refuseIfUnclean: () => void;
  /** Notes a failure that could not be undone. */
  readonly markUnclean: () => void;
  /** Takes the file back: gives up its lock, and may leave it open. */
  readonly release: (file: DiskFile) => void;
}

/** A feed that was looked at and then opened. */
export interface PlainFile {
  /** Where it is. */
  readonly place: string;
  /** What was opened there. */
  readonly file: DiskFile;
  /** What was looked at there. */
  readonly entry: Entry;
}

/**
 * Locks the open feed, too: should someone delete the lock file, the feed's own
 * lock still keeps a second writer out. Closes the file when that fails.
 *
 * @throws {SigError} `feed_locked`, `write_failed`
 */
export async function openFeedFile(
  opened: PlainFile,
  context: FeedFileContext,
): Promise<OpenFeed> {
  try {
    context.refuseIfUnclean();
    await lockFile(opened.file, context.timeoutMs);
    const feed = new FeedFile(opened, context);
    if (opened.file.isWhat(opened.place, opened.entry)) return feed;
    throw new SigError(
      "write_failed",
      "Cannot append: the feed was replaced while it was opened",
      { context: { path: opened.place, hint: "Try again." } },
    );
  } catch (error) {
    opened.file.close();
    throw error;
  }
}

class FeedFile implements OpenFeed {
  readonly identity: string;
  readonly #place: string;
  readonly #file: DiskFile;
  readonly #context: FeedFileContext;
  #size: number;
  /** False from the first step that changes the file to the last. */
  #sound = true;
  #closed = false;

  constructor({ file, place }: PlainFile, context: FeedFileContext) {
    const { identity, size } = file.look();
    this.identity = identity;
    this.#size = size;
    this.#place = place;
    this.#file = file;
    this.#context = context;
  }

  get size(): number {
    return this.#size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    return this.#file.read(offset, length);
  }

  async append(bytes: Uint8Array): Promise<void> {
    const before = this.#size;
    this.#sound = false;
    try {
      this.#write(bytes);
      this.#step("written");
      this.#file.syncData();
    } catch (error) {
      this.#undo(before);
      throw refused(error);
    }
    this.#size = before + bytes.length;
    this.#sound = true;
    this.#step("synced");
  }

  async cutTail(offset: number, at: Date): Promise<string> {
    this.#sound = false;
    const name = this.#keepAside(
      this.#file.read(offset, this.#size - offset),
      at,
    );
    this.#step("torn-kept");
    this.#file.truncate(offset);
    this.#size = offset;
    this.#file.syncData();
    this.#sound = true;
    return name;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // After a failure the next append opens the file again.
    if (this.#sound) this.#context.release(this.#file);
    else this.#file.close();
  }

  /** The system may take less than it was given. */
  #write(bytes: Uint8Array): void {
    const { maxWriteBytes } = this.#context.faults;
    for (let done = 0; done < bytes.length;) {
      const end = maxWriteBytes === undefined
        ? bytes.length
        : done + maxWriteBytes;
      done += this.#file.writeSome(bytes.subarray(done, end));
      if (done < bytes.length) this.#step("wrote-part");
    }
  }

  /**
   * Cuts back to where the feed was. After a failed flush the system may have
   * forgotten pages that never reached the disk, so nothing of them is kept and
   * the same flush is not tried again.
   */
  #undo(size: number): void {
    try {
      this.#file.truncate(size);
      this.#file.syncData();
    } catch {
      this.#context.markUnclean();
    }
  }

  #keepAside(bytes: Uint8Array, at: Date): string {
    const { folder } = this.#context;
    const feedName = this.#place.slice(this.#place.lastIndexOf("/") + 1);
    // Colons are not welcome in file names everywhere.
    const time = at.toISOString().replaceAll(":", "");
    for (let n = 1;; n++) {
      const name = `${feedName}.torn-${time}${n === 1 ? "" : `-${n}`}`;
      if (createDurably(`${folder}/${name}`, bytes, { mode: 0o600 })) {
        return `${folder}/${name}`;
      }
    }
  }

  #step(name: string): void {
    this.#context.faults.onStep?.(name);
  }
}

function refused(error: unknown): SigError {
  if (isSigError(error)) return error;
  return new SigError("write_failed", "Cannot append: the write failed", {
    cause: error,
  });
}
