/** The interface of the store of an issuer's files. @module */

import type { EventIndex } from "../index/feed_index.ts";

/** Options of {@linkcode FeedStore.exclusively}. */
export interface ExclusiveOptions {
  /** Milliseconds to wait for another writer before `feed_locked`. */
  readonly timeoutMs: number;
  /** Create a missing directory (default: reject, `source_not_found`). */
  readonly create?: boolean;
}

/**
 * Stores an issuer's published files and its private ones: a lock, an index,
 * and torn tails. Paths are relative to the published root and start with `/`,
 * such as `/.well-known/sig.json`; paths below `/.sig/` are never published.
 *
 * Every method rejects with a `SigError`: `invalid_metadata` for a path that is
 * not a plain file inside the root (a symbolic link, a FIFO, a directory),
 * `store_unavailable` if reading fails, `write_failed` if writing fails.
 */
export interface FeedStore {
  /**
   * Returns a value that changes whenever a document is replaced; undefined if
   * it does not exist. Must be cheap: it is called before each append.
   */
  revision(path: string): Promise<string | undefined>;
  /**
   * Returns a complete file, or undefined if it does not exist. Rejects with
   * `document_too_large` if it has more bytes.
   */
  read(path: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /**
   * Runs the work while no other call of `exclusively` for the same directory
   * is running, in this process or another. Rejects with `feed_locked`.
   */
  exclusively<T>(
    options: ExclusiveOptions,
    work: (writer: FeedWriter) => Promise<T>,
  ): Promise<T>;
  /** Closes open files. The store can't be used afterwards. */
  close(): Promise<void>;
}

/** Operations under the lock; not to be used after it is released. */
export interface FeedWriter {
  /** The index of the feed. */
  readonly index: EventIndex;
  /** Creates a file durably; returns false and changes nothing if it exists. */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Replaces or creates a document, durably and atomically. */
  replace(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * Like {@linkcode replace} for many files, which are durable only when the
   * promise resolves; until then, no other file may refer to them. Files that
   * already have these bytes are left unchanged.
   *
   * @param last replaced once all other files are durable, so it may refer to
   * them.
   */
  replaceAll(
    files: ReadonlyMap<string, Uint8Array>,
    last?: readonly [path: string, bytes: Uint8Array],
  ): Promise<void>;
  /** Appends bytes to a file, or creates it. They need not be durable. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** Removes a file, if it exists. */
  remove(path: string): Promise<void>;
  /** Opens the feed. Rejects with `source_not_found` if it does not exist. */
  openFeed(path: string): Promise<OpenFeed>;
}

/** The feed under the lock. */
export interface OpenFeed {
  /** Identity of the file: changes if the file is replaced. */
  readonly identity: string;
  /** Current size in bytes. */
  readonly size: number;
  /** Reads bytes from an offset on; fewer only at the end. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /**
   * Appends durably. If it rejects, the feed has its previous bytes, and
   * nothing is acknowledged.
   */
  append(bytes: Uint8Array): Promise<void>;
  /**
   * Saves the bytes from an offset on in a private file, durably, then cuts
   * them off, durably. Returns the path of that file.
   */
  cutTail(offset: number, at: Date): Promise<string>;
  /** Closes the feed; the store also does so when the lock is released. */
  close(): void;
}

/** Default of the milliseconds that a second writer waits. */
export const DEFAULT_LOCK_TIMEOUT_MS = 10_000;
