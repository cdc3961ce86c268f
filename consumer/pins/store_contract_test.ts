import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { createMemoryPinStore } from "./memory_pin_store.ts";
import { openSqlitePinStore } from "./sqlite_pin_store.ts";
import { HAS_REDIS, startRedis } from "../../tests/kit/redis_server.ts";
import { openPinStore } from "./open_pin_store.ts";
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

testPinStoreContract("kv", async () => {
  const folder = await Deno.makeTempDir();
  const store = await openPinStore(`kv:${folder}/pins.kv`);
  const other = await openPinStore(`kv:${folder}/pins.kv`);
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

testPinStoreContract("redis", async () => {
  const redis = await startRedis();
  const store = await openPinStore(redis.url);
  const other = await openPinStore(`${redis.url}/0`);
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

Deno.test("KV writes nothing into a database of another program", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/my #1 pins?.db`;
    await (await openPinStore(path)).close();
    const before = await Deno.readFile(path);
    await expectSigError(
      () => openPinStore(`kv:${path}`),
      "store_unavailable",
      "the file belongs to another program",
    );
    assertEquals(await Deno.readFile(path), before);
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
    assertEquals(names, ["my #1 pins?.db"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a mistyped URL, which may hold a password, is not shown", async () => {
  for (
    const text of [
      "redis//u:s3cret@h",
      "REDIS://u:s3cret@h",
      "kv:redis://u:s3cret@h",
      "redis:u:s3cret@h",
    ]
  ) {
    const error = await expectSigError(
      () => openPinStore(text),
      "invalid_request",
      "Cannot ",
    );
    assert(!JSON.stringify([error.message, error.context]).includes("s3cret"));
  }
});
