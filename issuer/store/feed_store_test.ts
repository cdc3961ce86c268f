import { createFileStore, createMemoryStore } from "@sig/issuer";
import { testFeedStoreContract } from "./store_contract.ts";

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
