/** The contract of what keeps an issuer's files. @module */

import type { FeedIndex } from "../index/feed_index.ts";

/** Options of {@linkcode FeedStore.exclusively}. */
export interface ExclusiveOptions {
  /** Milliseconds to wait for another writer, then `feed_locked`. */
  readonly timeoutMs: number;
  /** Make the place if it does not exist; else `source_not_found`. */
  readonly create?: boolean;
}

/**
 * Keeps one issuer's published files, and what it needs beside them: a lock, an
 * index, and tails that were cut off. Paths are relative to the published root
 * and start with `/`, such as `/.well-known/sig.json`; what is below `/.sig/` is
 * never published.
 *
 * Every method rejects with a `SigError`: `invalid_metadata` for a path that is
 * not a plain file inside the root (a symbolic link, a FIFO, a directory),
 * `store_unavailable` when reading fails, `write_failed` when writing fails.
 */
export interface FeedStore {
  /**
   * Changes whenever a document is replaced; undefined when it is absent. Cheap:
   * it is asked before each append.
   */
  revision(path: string): Promise<string | undefined>;
  /**
   * A whole file, undefined when it is absent. Rejects with
   * `document_too_large` when it has more bytes.
   */
  read(path: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /**
   * Runs the work while no one else, in this process or another, is inside
   * `exclusively` of the same place. Rejects with `feed_locked`.
   */
  exclusively<T>(
    options: ExclusiveOptions,
    work: (writer: FeedWriter) => Promise<T>,
  ): Promise<T>;
  /** Gives up what is held open. The store can't be used afterwards. */
  close(): Promise<void>;
}

/** What may be done under the lock; not to be used after it. */
export interface FeedWriter {
  /** The index beside the feed. */
  readonly index: FeedIndex;
  /** Makes a file, durably; false and nothing done when it is there already. */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Replaces a document, or makes it: durable, and whole at any moment. */
  replace(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * {@linkcode replace} for many files, which are durable together at the end:
   * before that, nothing may rely upon them.
   * Files that have these bytes already are left as they are.
   *
   * @param last is replaced once all others are durable: it may rely upon them.
   */
  replaceAll(
    files: ReadonlyMap<string, Uint8Array>,
    last?: readonly [path: string, bytes: Uint8Array],
  ): Promise<void>;
  /** Adds bytes to a file, or makes it. They need not be durable. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** Removes a file, if it is there. */
  remove(path: string): Promise<void>;
  /** Opens the feed. Rejects with `source_not_found` when it is absent. */
  openFeed(path: string): Promise<OpenFeed>;
}

/** The feed under the lock. */
export interface OpenFeed {
  /** Changes when the file is replaced by another one. */
  readonly identity: string;
  /** Bytes now. */
  readonly size: number;
  /** Bytes from an offset on; fewer only at the end. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /**
   * Appends, durably. When it rejects, the feed has the bytes that it had
   * before, and nothing is acknowledged.
   */
  append(bytes: Uint8Array): Promise<void>;
  /**
   * Keeps the bytes from an offset on in a private place, durably, then cuts
   * them off, durably. Answers where they are kept.
   */
  cutTail(offset: number, at: Date): Promise<string>;
  /** Closes it; the store does so too when the lock is given up. */
  close(): void;
}

/** Milliseconds that a second writer waits, by default. */
export const DEFAULT_LOCK_TIMEOUT_MS = 10_000;
