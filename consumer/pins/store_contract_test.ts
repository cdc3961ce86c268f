import { createMemoryPinStore } from "./memory_pin_store.ts";
import { openSqlitePinStore } from "./sqlite_pin_store.ts";
import { testPinStoreContract } from "./store_contract.ts";

testPinStoreContract("memory", () => {
  const store = createMemoryPinStore();
  return Promise.resolve({ store, close: () => store.close() });
});

testPinStoreContract("sqlite", async () => {
  const folder = await Deno.makeTempDir();
  const store = await openSqlitePinStore(`${folder}/pins.db`);
  const other = await openSqlitePinStore(`${folder}/pins.db`);
  return {
    store,
    other,
    async close() {
      await store.close();
      await other.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
});
