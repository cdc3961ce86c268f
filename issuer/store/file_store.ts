// deno-lint-ignore-file require-await -- the contract's methods answer with promises
/** An issuer's directory on disk (docs/protocol.md §11). @module */

import { SigError } from "@sig/core";
import {
  type Entry,
  look,
  makeDirectory,
  openFile,
  parentOf,
  requireDeno,
  requireFolder,
  resolvePath,
  syncAll,
  syncDirectory,
} from "../disk/disk.ts";
import {
  createDurably,
  discard,
  type DurableOptions,
  type FaultHooks,
  hasBytes,
  prepareFile,
  readWhole,
  removeReplaced,
  requirePlainFile,
} from "../disk/durable_file.ts";
import { FeedIndex } from "../index/feed_index.ts";
import type {
  ExclusiveOptions,
  FeedStore,
  FeedWriter,
  OpenFeed,
} from "./feed_store.ts";
import { acquireLock, lockFile, ReusableFile } from "../disk/file_lock.ts";
import { FeedFile } from "./feed_file.ts";
import { missingFeed } from "./memory_store.ts";
import {
  findOwner,
  requireOwner,
  restrictToOwner,
  writableByOthers,
} from "../disk/private_folder.ts";

/** Options of {@linkcode createFileStore}. */
export interface FileStoreOptions {
  /** For tests only. */
  readonly faults?: FaultHooks;
}

/** Contains lock, index and torn tails; readable by the owner only. */
const PRIVATE_FOLDER = ".sig";
const IGNORE_ALL = new TextEncoder().encode("*\n");

/**
 * Makes a store for an issuer's directory. `<dir>/.well-known` is published;
 * lock, index and torn tails are in `<dir>/.sig` (mode 0700), which no server
 * may publish. Reads and creates nothing before the first use.
 *
 * Several processes may use one directory: writers exclude each other by
 * `flock` on `.sig/lock` and on the feed itself. Symbolic links at or above a
 * published file are refused (`invalid_metadata`); `dir` itself may be a link.
 * File operations block the thread until the disk has flushed. Lock, feed and
 * index stay open until the store is closed.
 *
 * @example
 * ```ts
 * import { createFileKeyStore, createFileStore, initIssuer } from "@sig/issuer";
 * import { assert } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const store = createFileStore(`${dir}/acme.example`);
 * await initIssuer({
 *   store,
 *   keys: createFileKeyStore(`${dir}/keys`),
 *   did: "did:web:acme.example",
 * });
 * await store.close();
 * const feed = `${dir}/acme.example/.well-known/sig/events.jsonl`;
 * assert((await Deno.stat(feed)).isFile);
 * await Deno.remove(dir, { recursive: true });
 * ```
 */
export function createFileStore(
  dir: string,
  options: FileStoreOptions = {},
): FeedStore & AsyncDisposable {
  requireDeno();
  return new FileStore(dir, options.faults ?? {});
}

class FileStore implements FeedStore, AsyncDisposable {
  readonly #dir: string;
  readonly #faults: FaultHooks;
  #root: string | undefined;
  #index: FeedIndex | undefined;
  /** User id of this process, which owns the files it creates. */
  #us: number | null | undefined;
  readonly #keptLock = new ReusableFile();
  readonly #keptFeed = new ReusableFile();
  #closed = false;
  /** Set if a failed write could not be undone. */
  #unclean = false;

  constructor(dir: string, faults: FaultHooks) {
    this.#dir = dir;
    this.#faults = faults;
  }

  async revision(path: string): Promise<string | undefined> {
    return look(this.#place(path))?.revision;
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const place = this.#place(path);
    requireInside(place);
    return readWhole(place, maxBytes);
  }

  async exclusively<T>(
    options: ExclusiveOptions,
    work: (writer: FeedWriter) => Promise<T>,
  ): Promise<T> {
    if (options.create === true) makeFolders(this.#dir);
    const folder = `${this.#findRoot()}/${PRIVATE_FOLDER}`;
    let entry = look(folder);
    if (entry === undefined) {
      makeDirectory(folder, 0o700);
      entry = look(folder);
    }
    requireFolder(folder, entry);
    this.#us ??= findOwner(folder);
    requireOwner(folder, entry, this.#us);
    // In git, a checkout would restore the index together with the feed, so
    // that a rollback stays undetected, and would distribute people's names.
    // Also in an existing folder, since a crash may have followed its creation.
    if (this.#index === undefined) {
      createDurably(`${folder}/.gitignore`, IGNORE_ALL, { mode: 0o600 });
    }
    const { timeoutMs } = options;
    const lock = await acquireLock(
      `${folder}/lock`,
      timeoutMs,
      this.#keptLock.take(),
    );
    const feeds: OpenFeed[] = [];
    try {
      this.#step("locked");
      const index = this.#guardIndex(folder, entry, this.#us);
      const openFeed = async (path: string) => {
        const feed = await this.#openFeed(path, folder, timeoutMs);
        feeds.push(feed);
        return feed;
      };
      return await work({ index, openFeed, ...this.#files });
    } finally {
      for (const feed of feeds) feed.close();
      this.#keptLock.keep(lock);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#keptFeed.close();
    this.#keptLock.close();
    this.#index?.close();
    this.#index = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** An index that other users could write keeps only its last known line. */
  #guardIndex(
    folder: string,
    entry: Entry | undefined,
    us: number | null,
  ): FeedIndex {
    const isClosed = ((entry?.mode ?? 0) & 0o077) === 0;
    // Other users could not write since it was checked.
    if (this.#index !== undefined && isClosed) return this.#index;
    this.#index ??= new FeedIndex(`${folder}/index.db`);
    // Done first, so that a crash leaves the folder untrusted as before.
    if (writableByOthers(folder, us)) this.#index.discard();
    restrictToOwner(folder);
    return this.#index;
  }

  readonly #files: Omit<FeedWriter, "index" | "openFeed"> = {
    create: async (path, bytes) =>
      createDurably(this.#makePlace(path), bytes, this.#options(path)),
    replace: (path, bytes) => this.#replaceAll(new Map(), [path, bytes]),
    replaceAll: (files, last) => this.#replaceAll(files, last),
    append: async (path, bytes) => {
      const how = { append: true, create: true, mode: 0o600 };
      const file = openFile(this.#makePlace(path), how);
      try {
        file.writeAll(bytes);
      } finally {
        file.close();
      }
    },
    remove: async (path) => removeReplaced(this.#place(path)),
  };

  #options(path: string): DurableOptions {
    return {
      onStep: (step) => this.#step(`${step} ${path}`),
      ...(path.startsWith(`/${PRIVATE_FOLDER}/`) ? { mode: 0o600 } : {}),
    };
  }

  async #replaceAll(
    files: ReadonlyMap<string, Uint8Array>,
    last?: readonly [path: string, bytes: Uint8Array],
  ): Promise<void> {
    const changed = new Set<string>();
    for (const [path, bytes] of files) {
      const place = this.#makePlace(path, (folder) => changed.add(folder));
      if (!hasBytes(place, bytes)) {
        prepareFile(place, bytes, this.#options(path)).rename();
      }
      changed.add(place).add(parentOf(place));
    }
    if (last === undefined) return await syncAll(changed);
    const [path, bytes] = last;
    const place = this.#makePlace(path);
    const prepared = prepareFile(place, bytes, this.#options(path));
    try {
      await syncAll(changed.add(prepared.temporary));
    } catch (error) {
      discard(prepared.temporary);
      throw error;
    }
    prepared.rename();
    syncDirectory(parentOf(place));
  }

  /**
   * Opens a published plain file for appending, and locks it: if the lock file
   * is deleted, the feed's own lock still excludes a second writer.
   *
   * @throws {SigError} `feed_locked`, `write_failed`
   */
  async #openFeed(
    path: string,
    folder: string,
    timeoutMs: number,
  ): Promise<OpenFeed> {
    const place = this.#place(path);
    const entry = look(place);
    if (entry === undefined) throw missingFeed(path);
    requirePlainFile(place, entry.kind);
    requireInside(place);
    let file = this.#keptFeed.take();
    if (!file?.isOpenOf(place, entry)) {
      file?.close();
      file = openFile(place, { read: true, append: true });
    }
    try {
      this.#refuseIfUnclean();
      await lockFile(file, timeoutMs);
      const feed = new FeedFile(file, place, {
        folder,
        faults: this.#faults,
        kept: this.#keptFeed,
        onUnclean: () => this.#unclean = true,
      });
      if (file.isOpenOf(place, entry)) return feed;
      throw new SigError("write_failed", {
        action: "append",
        reason: "the feed was replaced while it was opened",
        context: { path: place, hint: "Try again." },
      });
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Returns the path on disk of a published path. */
  #place(path: string): string {
    return this.#findRoot() + path;
  }

  /** Returns {@linkcode #place} after creating its directories. */
  #makePlace(path: string, flush?: (folder: string) => void): string {
    const place = this.#place(path);
    makeFolders(parentOf(place), flush);
    requireInside(parentOf(place));
    return place;
  }

  #findRoot(): string {
    if (this.#closed) {
      throw new TypeError("Cannot use a store after it was closed");
    }
    this.#root ??= resolvePath(this.#dir);
    if (this.#root !== undefined) return this.#root;
    throw new SigError("source_not_found", {
      action: `open ${JSON.stringify(this.#dir)}`,
      reason: "no such directory",
      context: { path: this.#dir, hint: "Make a new issuer with init." },
    });
  }

  #refuseIfUnclean(): void {
    if (!this.#unclean) return;
    throw new SigError("write_failed", {
      action: "append",
      reason: "an earlier write failed and could not be undone",
      context: { hint: "Repair the disk, then open the issuer again." },
    });
  }

  #step(name: string): void {
    this.#faults.onStep?.(name);
  }
}

/** Creates a directory and its parents, durably unless `flush` is given. */
function makeFolders(path: string, flush?: (folder: string) => void): void {
  const entry = look(path);
  if (entry === undefined) {
    makeFolders(parentOf(path), flush);
    makeDirectory(path, undefined, flush);
  } else if (entry.kind !== "symlink") {
    requireFolder(path, entry);
  }
}

/** Refuses a path below the root that contains a symbolic link. */
function requireInside(place: string): void {
  const resolved = resolvePath(place);
  if (resolved === undefined || resolved === place) return;
  throw new SigError("invalid_metadata", {
    action: `use ${JSON.stringify(place)}`,
    reason: "a symbolic link is in its path, and none is followed",
    context: { path: place },
  });
}
