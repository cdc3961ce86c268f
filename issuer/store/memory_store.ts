/** A store for tests and for programs that publish by other means. @module */

import { SigError } from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import type {
  ExclusiveOptions,
  FeedStore,
  FeedWriter,
  OpenFeed,
} from "./feed_store.ts";
import { createMemoryIndex } from "../index/feed_index.ts";

/** What {@linkcode createMemoryStore} makes. */
export interface MemoryStore extends FeedStore {
  /** The files by path, as they are now; changing it changes them. */
  readonly files: Map<string, Uint8Array>;
  /** Tails that were cut off, by name. */
  readonly torn: ReadonlyMap<string, Uint8Array>;
}

/**
 * Makes an empty store in memory.
 *
 * @example
 * ```ts
 * import { createMemoryKeyStore, createMemoryStore, initIssuer } from "@sig/issuer";
 * import { assert } from "@std/assert";
 *
 * const store = createMemoryStore();
 * await initIssuer({
 *   store,
 *   keys: createMemoryKeyStore(),
 *   did: "did:web:acme.example",
 * });
 * assert(store.files.has("/.well-known/sig.json"));
 * ```
 */
export function createMemoryStore(): MemoryStore {
  return new InMemoryStore();
}

class InMemoryStore implements MemoryStore {
  readonly files = new Map<string, Uint8Array>();
  readonly torn = new Map<string, Uint8Array>();
  readonly #index = createMemoryIndex();
  readonly #revisions = new WeakMap<Uint8Array, string>();
  #nextRevision = 1;
  #last: Promise<void> = Promise.resolve();

  revision(path: string): Promise<string | undefined> {
    const bytes = this.files.get(path);
    if (bytes === undefined) return Promise.resolve(undefined);
    let revision = this.#revisions.get(bytes);
    if (revision === undefined) {
      revision = String(this.#nextRevision++);
      this.#revisions.set(bytes, revision);
    }
    return Promise.resolve(revision);
  }

  read(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const bytes = this.files.get(path);
    if (bytes !== undefined && bytes.length > maxBytes) {
      return Promise.reject(
        new SigError(
          "document_too_large",
          `Cannot read ${
            JSON.stringify(path)
          }: it has ${bytes.length} bytes (at most ${maxBytes})`,
          { context: { path, limit: maxBytes } },
        ),
      );
    }
    return Promise.resolve(bytes?.slice());
  }

  async exclusively<T>(
    options: ExclusiveOptions,
    work: (writer: FeedWriter) => Promise<T>,
  ): Promise<T> {
    const before = this.#last;
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    this.#last = before.then(() => done);
    try {
      await withTimeout(before, options.timeoutMs);
      return await work(this.#writer());
    } finally {
      release();
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #writer(): FeedWriter {
    const { files, torn } = this;
    return {
      index: this.#index,
      create(path, bytes) {
        if (files.has(path)) return Promise.resolve(false);
        files.set(path, bytes.slice());
        return Promise.resolve(true);
      },
      replace(path, bytes) {
        files.set(path, bytes.slice());
        return Promise.resolve();
      },
      replaceAll(all) {
        for (const [path, bytes] of all) files.set(path, bytes.slice());
        return Promise.resolve();
      },
      append(path, bytes) {
        files.set(
          path,
          joinBytes([files.get(path) ?? new Uint8Array(), bytes]),
        );
        return Promise.resolve();
      },
      remove(path) {
        files.delete(path);
        return Promise.resolve();
      },
      openFeed(path) {
        if (files.has(path)) {
          return Promise.resolve(new MemoryFeed(files, torn, path));
        }
        return Promise.reject(missingFeed(path));
      },
    };
  }
}

class MemoryFeed implements OpenFeed {
  readonly identity = "memory";
  readonly #files: Map<string, Uint8Array>;
  readonly #torn: Map<string, Uint8Array>;
  readonly #path: string;

  constructor(
    files: Map<string, Uint8Array>,
    torn: Map<string, Uint8Array>,
    path: string,
  ) {
    this.#files = files;
    this.#torn = torn;
    this.#path = path;
  }

  get #bytes(): Uint8Array {
    return this.#files.get(this.#path) ?? new Uint8Array();
  }

  get size(): number {
    return this.#bytes.length;
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return Promise.resolve(this.#bytes.slice(offset, offset + length));
  }

  append(bytes: Uint8Array): Promise<void> {
    const all = new Uint8Array(this.size + bytes.length);
    all.set(this.#bytes);
    all.set(bytes, this.size);
    this.#files.set(this.#path, all);
    return Promise.resolve();
  }

  cutTail(offset: number, at: Date): Promise<string> {
    const name = `events.jsonl.torn-${at.toISOString()}`;
    this.#torn.set(name, this.#bytes.slice(offset));
    this.#files.set(this.#path, this.#bytes.slice(0, offset));
    return Promise.resolve(name);
  }

  close(): void {}
}

/** The error of a feed that is not there. */
export function missingFeed(path: string): SigError {
  return new SigError(
    "source_not_found",
    `Cannot append: the feed ${JSON.stringify(path)} is missing`,
    {
      context: {
        path,
        hint:
          "Put it back from a copy: a new, empty feed would contradict what readers remember.",
      },
    },
  );
}

async function withTimeout(
  promise: Promise<void>,
  timeoutMs: number,
): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(
      new SigError(
        "feed_locked",
        `Cannot append: another writer holds the feed's lock (waited ${timeoutMs} ms)`,
        { context: { timeout_ms: timeoutMs } },
      ),
    );
  }, timeoutMs);
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
