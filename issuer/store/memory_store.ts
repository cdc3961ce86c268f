// deno-lint-ignore-file require-await -- the contract's methods answer with promises
/** A store for tests and for programs that publish in another way. @module */

import { SigError } from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import { tooLarge } from "../disk/durable_file.ts";
import { locked } from "../disk/file_lock.ts";
import type {
  ExclusiveOptions,
  FeedStore,
  FeedWriter,
  OpenFeed,
} from "./feed_store.ts";
import { FeedIndex } from "../index/feed_index.ts";

/** The store that {@linkcode createMemoryStore} makes. */
export interface MemoryStore extends FeedStore {
  /** The current files by path; changing the map changes the files. */
  readonly files: Map<string, Uint8Array>;
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
  readonly #index = new FeedIndex();
  readonly #revisions = new WeakMap<Uint8Array, string>();
  #last: Promise<void> = Promise.resolve();

  async revision(path: string): Promise<string | undefined> {
    const bytes = this.files.get(path);
    if (bytes === undefined) return undefined;
    const revision = this.#revisions.get(bytes) ?? crypto.randomUUID();
    this.#revisions.set(bytes, revision);
    return revision;
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const bytes = this.files.get(path);
    if (bytes === undefined || bytes.length <= maxBytes) return bytes?.slice();
    throw tooLarge(path, bytes.length, maxBytes);
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

  async close(): Promise<void> {}

  #writer(): FeedWriter {
    const { files } = this;
    return {
      index: this.#index,
      async create(path, bytes) {
        if (files.has(path)) return false;
        files.set(path, bytes.slice());
        return true;
      },
      async replace(path, bytes) {
        files.set(path, bytes.slice());
      },
      async replaceAll(all, last) {
        for (const [path, bytes] of last ? [...all, last] : all) {
          files.set(path, bytes.slice());
        }
      },
      async append(path, bytes) {
        const before = files.get(path) ?? new Uint8Array();
        files.set(path, joinBytes([before, bytes]));
      },
      async remove(path) {
        files.delete(path);
      },
      async openFeed(path) {
        if (files.has(path)) return new MemoryFeed(files, path);
        throw missingFeed(path);
      },
    };
  }
}

class MemoryFeed implements OpenFeed {
  readonly identity = "memory";
  readonly #files: Map<string, Uint8Array>;
  readonly #path: string;

  constructor(files: Map<string, Uint8Array>, path: string) {
    this.#files = files;
    this.#path = path;
  }

  get #bytes(): Uint8Array {
    return this.#files.get(this.#path) ?? new Uint8Array();
  }

  get size(): number {
    return this.#bytes.length;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    return this.#bytes.slice(offset, offset + length);
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#files.set(this.#path, joinBytes([this.#bytes, bytes]));
  }

  async cutTail(offset: number, at: Date): Promise<string> {
    const name = `/.sig/events.jsonl.torn-${at.toISOString()}`;
    this.#files.set(name, this.#bytes.slice(offset));
    this.#files.set(this.#path, this.#bytes.slice(0, offset));
    return name;
  }

  close(): void {}
}

export function missingFeed(path: string): SigError {
  return new SigError("source_not_found", {
    action: "append",
    reason: `the feed ${JSON.stringify(path)} is missing`,
    context: {
      path,
      hint:
        "Put it back from a copy: a new, empty feed would contradict what readers remember.",
    },
  });
}

async function withTimeout(
  promise: Promise<void>,
  timeoutMs: number,
): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(locked(timeoutMs)), timeoutMs);
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
