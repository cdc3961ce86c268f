// deno-lint-ignore-file require-await -- the contract's methods answer with promises
/** An issuer's directory on disk (docs/protocol.md §11). @module */

import { SigError } from "@sig/core";
import {
  look,
  lookForRevision,
  makeDirectory,
  openFile,
  parentOf,
  requireFolder,
  resolvePath,
  ReusableFile,
  syncAll,
  syncDirectory,
} from "../disk/disk.ts";
import {
  createDurably,
  type DurableOptions,
  type FaultHooks,
  hasBytes,
  prepareFile,
  readWhole,
  removeReplaced,
  replaceDurably,
  requirePlainFile,
} from "../disk/durable_file.ts";
import {
  type FeedFileContext,
  openFeedFile,
  type PlainFile,
} from "./feed_file.ts";
import { FeedIndex } from "../index/feed_index.ts";
import type {
  ExclusiveOptions,
  FeedStore,
  FeedWriter,
  OpenFeed,
} from "./feed_store.ts";
import { acquireLock } from "../disk/file_lock.ts";
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

/** Holds lock, index and torn tails; readable by the owner only. */
const PRIVATE_FOLDER = ".sig";
const IGNORE_ALL = new TextEncoder().encode("*\n");

/**
 * Makes a store for an issuer's directory. Published are `<dir>/.well-known`
 * and below; lock, index and torn tails lie in `<dir>/.sig` (mode 0700), which
 * no server may show. Nothing is read or made before the first use.
 *
 * Several processes may use one directory: writers exclude each other by
 * `flock` on `.sig/lock` and on the feed itself. Symbolic links at or above a
 * published file are refused (`invalid_metadata`); `dir` itself may be one.
 * File operations block the thread, for as long as the disk needs to flush.
 * Lock, feed and index stay open until the store is closed.
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
): FeedStore {
  return new FileStore(dir, options.faults ?? {});
}

/** One use of the store under its lock. */
interface Turn {
  readonly folder: string;
  readonly timeoutMs: number;
  /** Opened meanwhile. */
  readonly feeds: OpenFeed[];
}

class FileStore implements FeedStore {
  readonly #dir: string;
  readonly #faults: FaultHooks;
  #root: string | undefined;
  #index: FeedIndex | undefined;
  /** Who owns what this process makes. */
  #us: number | null | undefined;
  readonly #keptLock = new ReusableFile();
  readonly #keptFeed = new ReusableFile();
  #closed = false;
  /** Set when a failed write could not be undone. */
  #unclean = false;

  constructor(dir: string, faults: FaultHooks) {
    this.#dir = dir;
    this.#faults = faults;
  }

  async revision(path: string): Promise<string | undefined> {
    return lookForRevision(this.#place(path));
  }

  async read(
    path: string,
    maxBytes: number,
  ): Promise<Uint8Array | undefined> {
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
    let isNew = false;
    if (entry === undefined) {
      isNew = makeDirectory(folder, 0o700);
      entry = look(folder);
    }
    requireFolder(folder, entry);
    this.#us ??= findOwner(folder);
    requireOwner(folder, entry, this.#us);
    // A checkout would take the index back together with the feed, so that
    // nothing notices, and hand on people's names.
    if (isNew) {
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
      const index = this.#guardIndex(folder, this.#us);
      return await work(this.#writer(index, { folder, timeoutMs, feeds }));
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

  /** An index that others could write keeps its evidence, and nothing else. */
  #guardIndex(folder: string, us: number | null): FeedIndex {
    const entry = look(folder);
    requireOwner(folder, entry, us);
    const isClosed = ((entry?.mode ?? 0) & 0o077) === 0;
    // Nobody else got in since it was judged.
    if (this.#index !== undefined && isClosed) return this.#index;
    this.#index ??= new FeedIndex(`${folder}/index.db`);
    // First, so that a crash in between leaves it as doubtful as it was.
    if (writableByOthers(folder, us)) this.#index.discard();
    restrictToOwner(folder);
    return this.#index;
  }

  #writer(
    index: FeedIndex,
    { feeds, folder, timeoutMs }: Turn,
  ): FeedWriter {
    const context: FeedFileContext = {
      folder,
      timeoutMs,
      faults: this.#faults,
      refuseIfUnclean: () => this.#refuseIfUnclean(),
      markUnclean: () => this.#unclean = true,
      release: (file) => this.#keptFeed.keep(file),
    };
    const durable = (path: string): DurableOptions => ({
      onStep: (step) => this.#step(`${step} ${path}`),
      ...(path.startsWith(`/${PRIVATE_FOLDER}/`) ? { mode: 0o600 } : {}),
    });
    const unflushed = (path: string) => ({ ...durable(path), flush: false });
    return {
      index,
      create: async (path, bytes) =>
        createDurably(this.#makePlace(path), bytes, durable(path)),
      replace: async (path, bytes) => {
        replaceDurably(this.#makePlace(path), bytes, durable(path));
      },
      replaceAll: async (files, last) => {
        const changed = new Set<string>();
        for (const [path, bytes] of files) {
          const place = this.#makePlace(path, (folder) => changed.add(folder));
          if (!hasBytes(place, bytes)) {
            prepareFile(place, bytes, unflushed(path)).rename();
          }
          changed.add(place).add(parentOf(place));
        }
        if (last === undefined) return await syncAll(changed);
        const [path, bytes] = last;
        const place = this.#makePlace(path);
        const prepared = prepareFile(place, bytes, unflushed(path));
        await syncAll(changed.add(prepared.temporary));
        prepared.rename();
        syncDirectory(parentOf(place));
      },
      append: async (path, bytes) => {
        const file = openFile(this.#makePlace(path), {
          ...{ append: true, create: true, mode: 0o600 },
        });
        try {
          file.writeAll(bytes);
        } finally {
          file.close();
        }
      },
      remove: async (path) => removeReplaced(this.#place(path)),
      openFeed: async (path) => {
        const feed = await openFeedFile(this.#openPlain(path), context);
        feeds.push(feed);
        return feed;
      },
    };
  }

  /** Opens a published file for appending, if it is a plain file inside. */
  #openPlain(path: string): PlainFile {
    const place = this.#place(path);
    const entry = look(place);
    if (entry === undefined) throw missingFeed(path);
    requirePlainFile(place, entry.kind);
    requireInside(place);
    const kept = this.#keptFeed.take();
    if (kept?.isWhat(place, entry)) return { place, file: kept, entry };
    kept?.close();
    const file = openFile(place, { read: true, append: true });
    return { place, file, entry };
  }

  /** Where a published path is on the disk. */
  #place(path: string): string {
    return this.#findRoot() + path;
  }

  /** {@linkcode #place}, with its directories made. */
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
    throw new SigError(
      "source_not_found",
      `Cannot open ${JSON.stringify(this.#dir)}: no such directory`,
      { context: { path: this.#dir, hint: "Make a new issuer with init." } },
    );
  }

  #refuseIfUnclean(): void {
    if (!this.#unclean) return;
    throw new SigError(
      "write_failed",
      "Cannot append: an earlier write failed and could not be undone",
      { context: { hint: "Repair the disk, then open the issuer again." } },
    );
  }

  #step(name: string): void {
    this.#faults.onStep?.(name);
  }
}

/** Makes a directory and those above it, durably unless `flush` is given. */
function makeFolders(path: string, flush?: (folder: string) => void): void {
  const entry = look(path);
  if (entry === undefined) {
    makeFolders(parentOf(path), flush);
    makeDirectory(path, undefined, flush);
  } else if (entry.kind !== "symlink") {
    requireFolder(path, entry);
  }
}

/** Refuses a path below the root that some symbolic link leads elsewhere. */
function requireInside(place: string): void {
  const resolved = resolvePath(place);
  if (resolved === undefined || resolved === place) return;
  throw new SigError(
    "invalid_metadata",
    `Cannot use ${
      JSON.stringify(place)
    }: a symbolic link is in its path, and none is followed`,
    { context: { path: place } },
  );
}
