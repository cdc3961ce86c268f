// deno-lint-ignore-file require-await -- the contract's methods answer with promises
/** The file of a feed under the lock (docs/protocol.md §11). @module */

import { isSigError, SigError } from "@sig/core";
import type { DiskFile } from "../disk/disk.ts";
import { createDurably, type FaultHooks } from "../disk/durable_file.ts";
import type { ReusableFile } from "../disk/file_lock.ts";
import type { OpenFeed } from "./feed_store.ts";

/** What a feed's file needs of its store. */
interface FeedFileContext {
  /** The private directory, for torn tails. */
  readonly folder: string;
  readonly faults: FaultHooks;
  /** Takes the file back: releases its lock, and may keep it open. */
  readonly kept: ReusableFile;
  /** Called if a failed write could not be undone. */
  readonly onUnclean: () => void;
}

/** The feed's file under the lock. */
export class FeedFile implements OpenFeed {
  readonly identity: string;
  readonly #place: string;
  readonly #file: DiskFile;
  readonly #context: FeedFileContext;
  #size: number;
  /** False while a change of the file is incomplete. */
  #sound = true;
  #closed = false;

  constructor(file: DiskFile, place: string, context: FeedFileContext) {
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
      if (isSigError(error)) throw error;
      throw new SigError("write_failed", {
        action: "append",
        reason: "the write failed",
        cause: error,
      });
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
    if (this.#sound) this.#context.kept.keep(this.#file);
    else this.#file.close();
  }

  /** The system may write fewer bytes than requested. */
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
   * Truncates the feed to its previous size. After a failed flush the system
   * may have dropped pages that never reached the disk, so none of the new
   * bytes is kept and the flush is not retried.
   */
  #undo(size: number): void {
    try {
      this.#file.truncate(size);
      this.#file.syncData();
    } catch {
      this.#context.onUnclean();
    }
  }

  #keepAside(bytes: Uint8Array, at: Date): string {
    const { folder } = this.#context;
    const feedName = this.#place.slice(this.#place.lastIndexOf("/") + 1);
    // Some file systems don't allow colons in names.
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
