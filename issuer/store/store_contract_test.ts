import { createFileStore, createMemoryStore } from "@sig/issuer";
import { assert, AssertionError, assertRejects } from "@std/assert";
import type { FeedStore, FeedWriter } from "./feed_store.ts";
import { withMethods } from "../testdata/support.ts";
import { FEED_STORE_RULES, testFeedStoreContract } from "./store_contract.ts";

/** Faulty store methods, and the rule that each breaks. */
const BROKEN: readonly (readonly [
  rule: string,
  breakStore: (store: FeedStore) => Partial<FeedStore>,
])[] = [
  ["refuses a file over the limit", (store) => ({
    read: (path) => store.read(path, 1_000_000),
  })],
  ["create makes a file once; replace may be repeated", (store) => ({
    exclusively: (options, work) =>
      store.exclusively(options, (writer) => {
        const create: FeedWriter["create"] = async (path, bytes) => {
          await writer.replace(path, bytes);
          return true;
        };
        return work(
          Object.assign(Object.create(writer), { create }) as FeedWriter,
        );
      }),
  })],
  ["a missing file has neither revision nor bytes", () => ({
    revision: () => Promise.resolve("1"),
  })],
  ["runs only one task under the lock", () => ({
    exclusively: (_options, work) => work(undefined as unknown as FeedWriter),
  })],
];

for (const [rule, breakStore] of BROKEN) {
  Deno.test(`a store that breaks a rule fails the contract: ${rule}`, async () => {
    const [, hold] = FEED_STORE_RULES.find(([name]) => name === rule) ?? [];
    assert(hold !== undefined, rule);
    const store = createMemoryStore();
    const broken = withMethods(store, breakStore(store));
    await assertRejects(() => hold(broken), AssertionError);
    await store.close();
  });
}

testFeedStoreContract("memory store", () => {
  const store = createMemoryStore();
  return Promise.resolve({ store, close: () => store.close() });
});

testFeedStoreContract("file store", async () => {
  const base = await Deno.makeTempDir();
  const store = createFileStore(`${base}/deep/issuer`);
  const close = async () => {
    await store.close();
    await Deno.remove(base, { recursive: true });
  };
  return { store, close };
});
