/**
 * The tests that every implementation of {@linkcode FeedStore} must pass,
 * including yours. For tests only: the issuer does not import it.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "@sig/issuer";
 * import { FEED_STORE_RULES } from "@sig/issuer/store-contract";
 *
 * for (const [, hold] of FEED_STORE_RULES) {
 *   const store = createMemoryStore(); // yours
 *   await hold(store);
 *   await store.close();
 * }
 * ```
 *
 * @module
 */

import { isSigError, type SigError } from "@sig/core";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { FeedStore, FeedWriter } from "./feed_store.ts";

/** An empty store to be tested. */
export interface OpenedFeedStore {
  /** The store. */
  readonly store: FeedStore;
  /** Closes it, and removes its files. */
  readonly close: () => Promise<void>;
}

/** One rule of the contract: its name and its test. */
export type FeedStoreRule = readonly [
  name: string,
  /** Rejects with an `AssertionError` if the store breaks the rule. */
  hold: (store: FeedStore) => Promise<void>,
];

/**
 * Registers the contract's tests for one implementation with `Deno.test`, named
 * `<driver>: <rule>`. `open` is called for each test and must return an empty
 * store.
 */
export function testFeedStoreContract(
  driver: string,
  open: () => Promise<OpenedFeedStore>,
): void {
  for (const [rule, hold] of FEED_STORE_RULES) {
    Deno.test(`${driver}: ${rule}`, async () => {
      const { store, close } = await open();
      try {
        await hold(store);
      } finally {
        await close();
      }
    });
  }
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (found: Uint8Array | undefined) =>
  found === undefined ? undefined : new TextDecoder().decode(found);
const SOON = { timeoutMs: 5_000, create: true };

/** The contract's rules, for test runners other than Deno's. */
export const FEED_STORE_RULES: readonly FeedStoreRule[] = [
  ["a missing file has neither revision nor bytes", async (store) => {
    await store.exclusively(SOON, () => Promise.resolve());
    assertEquals(await store.revision("/a.json"), undefined);
    assertEquals(await store.read("/a.json", 10), undefined);
  }],
  ["create makes a file once; replace may be repeated", async (store) => {
    await store.exclusively(SOON, async (writer) => {
      assertEquals(await writer.create("/x/a.json", bytes("1")), true);
      assertEquals(await writer.create("/x/a.json", bytes("2")), false);
    });
    assertEquals(text(await store.read("/x/a.json", 10)), "1");
    const revisions = [await store.revision("/x/a.json")];
    for (const content of ["2", "3", "3"]) {
      await store.exclusively(
        SOON,
        (writer) => writer.replace("/x/a.json", bytes(content)),
      );
      assertEquals(text(await store.read("/x/a.json", 10)), content);
      const revision = await store.revision("/x/a.json");
      assertEquals(await store.revision("/x/a.json"), revision);
      revisions.push(revision);
    }
    // Adjacent bytes differ, which is sufficient here.
    for (const [at, revision] of revisions.slice(1).entries()) {
      assert(revision !== revisions[at]);
    }
  }],
  [
    "replaces many files together, removes files, and appends to files",
    async (store) => {
      await store.exclusively(SOON, async (writer) => {
        await writer.replace("/x/a", bytes("old"));
        const files = { "/x/a": "1", "/x/y/b": "2", "/c": "3" };
        const all = Object.entries(files).map(([path, content]) =>
          [path, bytes(content)] as const
        );
        await writer.replaceAll(new Map(all), ["/x/last", bytes("6")]);
        await writer.replaceAll(new Map(all), ["/x/last", bytes("7")]);
        await writer.remove("/c");
        await writer.remove("/c");
        await writer.append("/.sig/d", bytes("4"));
        await writer.append("/.sig/d", bytes("5"));
      });
      assertEquals(text(await store.read("/.sig/d", 10)), "45");
      assertEquals(text(await store.read("/x/a", 10)), "1");
      assertEquals(text(await store.read("/x/y/b", 10)), "2");
      assertEquals(text(await store.read("/x/last", 10)), "7");
      assertEquals(text(await store.read("/c", 10)), undefined);
    },
  ],
  ["refuses a file over the limit", async (store) => {
    await store.exclusively(
      SOON,
      (writer) => writer.replace("/a.json", bytes("12345")),
    );
    assertEquals(text(await store.read("/a.json", 5)), "12345");
    const error = await assertRejected(
      store.read("/a.json", 4),
      "document_too_large",
      "it has 5 bytes (at most 4)",
    );
    assertEquals(error.context.limit, 4);
  }],
  ["does not create a missing feed", async (store) => {
    await store.exclusively(SOON, async (writer) => {
      await assertRejected(
        writer.openFeed("/feed"),
        "source_not_found",
        'the feed "/feed" is missing',
      );
    });
  }],
  [
    "appends to a feed, reads it at any offset, and saves and cuts its tail",
    async (store) => {
      await withFeed(store, async (writer) => {
        const feed = await writer.openFeed("/feed");
        assertEquals(feed.size, 0);
        await feed.append(bytes("one\n"));
        await feed.append(bytes("two\nthr"));
        assertEquals(feed.size, 11);
        assertEquals(text(await feed.read(4, 3)), "two");
        assertEquals(text(await feed.read(8, 100)), "thr");
        const first = await feed.cutTail(8, new Date(0));
        assertEquals(feed.size, 8);
        await feed.append(bytes("x"));
        assert(first.includes("torn-1970-01-01T"));
        await feed.cutTail(8, new Date(1));
        feed.close();
      });
      assertEquals(text(await store.read("/feed", 100)), "one\ntwo\n");
    },
  ],
  ["a feed keeps its identity during appends", async (store) => {
    const seen = new Set<string>();
    for (let n = 0; n < 3; n++) {
      await withFeed(store, async (writer) => {
        const feed = await writer.openFeed("/feed");
        await feed.append(bytes("line\n"));
        seen.add(feed.identity);
      });
    }
    assertEquals(seen.size, 1);
  }],
  ["runs only one task under the lock", async (store) => {
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, () =>
        store.exclusively(SOON, async () => {
          most = Math.max(most, ++inside);
          // real time: this file is published, without the tests' shared clock.
          await new Promise((resolve) => setTimeout(resolve, 1));
          inside--;
        })),
    );
    assertEquals(most, 1);
  }],
  ["reports a held lock and does not break it", async (store) => {
    await store.exclusively(SOON, async () => {
      const error = await assertRejected(
        store.exclusively({ timeoutMs: 20 }, () => Promise.resolve()),
        "feed_locked",
        "holds the feed's lock (waited 20 ms)",
      );
      assertEquals(error.context.timeout_ms, 20);
    });
    await store.exclusively({ timeoutMs: 0 }, () => Promise.resolve());
  }],
  ["a failure under the lock releases it", async (store) => {
    await store.exclusively(SOON, () => Promise.reject(new Error("no")))
      .catch((error: unknown) => assert(!isSigError(error)));
    await store.exclusively({ timeoutMs: 0 }, () => Promise.resolve());
  }],
];

async function withFeed(
  store: FeedStore,
  work: (writer: FeedWriter) => Promise<void>,
): Promise<void> {
  await store.exclusively(SOON, async (writer) => {
    await writer.create("/feed", new Uint8Array());
    await work(writer);
  });
}

/** Asserts code and message, and that the error is a `SigError`. */
async function assertRejected(
  work: Promise<unknown>,
  code: string,
  message: string,
): Promise<SigError> {
  const outcome: unknown = await work.then(() => undefined, (error) => error);
  assert(isSigError(outcome), `Expected ${code}, not ${outcome}`);
  assertEquals(outcome.code, code, outcome.message);
  assertStringIncludes(outcome.message, message);
  return outcome;
}
