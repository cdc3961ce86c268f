import { AssertionError, assertRejects } from "@std/assert";
import { openKvDatabase } from "./kv_database.ts";
import { keepRecordsInKv } from "./kv_records.ts";
import { createMemoryRecords } from "./memory_records.ts";
import { connectRedis, parseRedisUrl } from "@sig/consumer/connect";
import { storeUnavailable } from "./store_unavailable.ts";
import { keepRecordsInRedis } from "./redis_records.ts";
import type { RecordStore } from "./record_store.ts";
import {
  RECORD_STORE_RULES,
  testRecordStoreContract,
} from "./store_contract.ts";
import { HAS_REDIS, startRedis } from "../../tests/kit/redis_server.ts";

const LIMITS = { assertion: 200 };

testRecordStoreContract("memory", () => {
  const store = createMemoryRecords(LIMITS);
  return Promise.resolve({ store, close: () => store.close() });
});

testRecordStoreContract("kv", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/records.db`;
  const store = keepRecordsInKv(await openKvDatabase(path), LIMITS);
  const other = keepRecordsInKv(await openKvDatabase(path), LIMITS);
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

testRecordStoreContract("redis", async () => {
  const redis = await startRedis();
  const open = async () =>
    keepRecordsInRedis(
      await connectRedis(parseRedisUrl(redis.url), {
        unavailable: storeUnavailable,
      }),
      LIMITS,
    );
  const store = await open();
  const other = await open();
  return {
    store,
    other,
    async close() {
      await store.close();
      await other.close();
      await redis.stop();
    },
  };
}, !HAS_REDIS);

/** What a careless driver does otherwise, and the rule that it breaks. */
const BROKEN: readonly (readonly [
  rule: string,
  breakIt: (store: RecordStore) => Partial<RecordStore>,
])[] = [
  ["of 50 parallel takes exactly one gets it", (store) => ({
    // Looks, and then removes.
    async take(kind, id, at) {
      const found = await store.get(kind, id, at);
      await store.take(kind, id, at);
      return found;
    },
  })],
  ["of 50 parallel puts over one version exactly one is written", (store) => ({
    async put(kind, id, record, over, at) {
      const found = await store.get(kind, id, at);
      if ((found?.version ?? null) !== over) return false;
      // Whatever it is by now.
      for (;;) {
        const now = await store.get(kind, id, at);
        const version = now?.version ?? null;
        if (await store.put(kind, id, record, version, at)) return true;
      }
    },
  })],
  ["it expires to the millisecond, by the clock that is given", (store) => ({
    take: (kind, id) => store.take(kind, id, new Date(0)),
  })],
];

for (const [rule, breakIt] of BROKEN) {
  Deno.test(`a driver that breaks it fails the contract: ${rule}`, async () => {
    const { hold } = RECORD_STORE_RULES.find(({ name }) => name === rule)!;
    const store = createMemoryRecords(LIMITS);
    const broken: RecordStore = { ...store, ...breakIt(store) };
    const close = () => broken.close();
    await assertRejects(() => hold({ store: broken, close }), AssertionError);
    await close();
  });
}
