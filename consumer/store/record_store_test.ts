import {
  assert,
  assertEquals,
  AssertionError,
  assertRejects,
} from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { HAS_REDIS, startRedis } from "../../tests/kit/redis_server.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { openTwice, writeKv } from "../testdata/stores.ts";
import { createMemoryStore } from "./memory_store.ts";
import { openStore } from "./open_store.ts";
import type { RecordStore } from "./record_store.ts";
import { recordsOf } from "./records.ts";
import { RECORD_STORE_RULES, testRecordStoreContract } from "./testing.ts";

const AT = new Date("2026-01-31T09:00:00Z");
const IN_A_MINUTE_MS = AT.getTime() + 60_000;

testRecordStoreContract("memory", () => {
  const store = createMemoryStore();
  return Promise.resolve({ store, close: () => store.close() });
});

testRecordStoreContract(
  "kv",
  () => openTwice((folder) => openStore(`kv:${folder}/records.db`)),
);

testRecordStoreContract("redis", async () => {
  const redis = await startRedis();
  return await openTwice(() => openStore(redis.url), () => redis.stop());
}, !HAS_REDIS);

/** The rules of the contract, each with a driver that breaks it. */
const BROKEN: readonly (readonly [
  rule: string,
  breakIt: (store: RecordStore) => Partial<RecordStore>,
])[] = [
  ["of 50 parallel takes exactly one gets the record", (store) => ({
    // Reads the record and then removes it, not atomically.
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
      // Overwrites whichever version is stored now.
      for (;;) {
        const now = await store.get(kind, id, at);
        const version = now?.version ?? null;
        if (await store.put(kind, id, record, version, at)) return true;
      }
    },
  })],
  ["a record expires to the millisecond, by the given clock", (store) => ({
    take: (kind, id) => store.take(kind, id, new Date(0)),
  })],
  ["a record without expiry is kept while others expire", (store) => ({
    put: (kind, id, record, over, at) =>
      store.put(kind, id, { ...record, expiresAtMs: 1e13 }, over, at),
  })],
];

for (const [rule, breakIt] of BROKEN) {
  Deno.test(`a driver that breaks a rule fails the contract: ${rule}`, async () => {
    const { verify } = RECORD_STORE_RULES.find(({ name }) => name === rule)!;
    const store = createMemoryStore();
    const broken: RecordStore = { ...store, ...breakIt(store) };
    const close = () => broken.close();
    await assertRejects(() => verify({ store: broken, close }), AssertionError);
    await close();
  });
}

Deno.test("the memory of a kind is limited, and changes and removals free memory", async () => {
  const store = createMemoryStore();
  const kind = { name: "small", maxBytes: 10 };
  const put = (id: string, text: string, at = AT) =>
    store.put(
      kind,
      id,
      { text, expiresAtMs: IN_A_MINUTE_MS + at.getTime() - AT.getTime() },
      null,
      at,
    );
  const refuse = (text: string) =>
    expectSigError(
      () => put("late", text),
      "rate_limited",
      "Cannot store small: the limit is reached",
    );
  await put("a", "12345");
  // Two bytes per character beyond Latin-1.
  await refuse("€€€");
  await put("b", "12345");
  await refuse("1");
  await store.take(kind, "a", AT);
  await put("c", "12345");
  await refuse("1");
  await put("d", "1234567890", new Date(IN_A_MINUTE_MS));
});

Deno.test("setting the clock back neither loses records nor stops their expiry", async () => {
  const store = createMemoryStore();
  const kind = { name: "few", maxRecords: 2 };
  const day = new Date(AT.getTime() + 86_400_000);
  const record = { text: "x", expiresAtMs: day.getTime() + 1 };
  await store.put(kind, "ahead", record, null, day);
  const soon = { text: "x", expiresAtMs: IN_A_MINUTE_MS };
  await store.put(kind, "soon", soon, null, AT);
  assertEquals((await store.get(kind, "soon", AT))?.text, "x");
  // Removed, although the store has already seen later seconds.
  const later = new Date(IN_A_MINUTE_MS + 1_000);
  await store.put(kind, "next", record, null, later);
  assertEquals(await store.get(kind, "soon", later), undefined);
});

Deno.test("a change is repeated until it does not conflict", async () => {
  const store = createMemoryStore();
  const counts = recordsOf<number>(store, { name: "count" });
  await counts.create("n", 0, null, AT);
  await Promise.all(
    Array.from({ length: 20 }, () => counts.change("n", AT, (n) => n + 1)),
  );
  assertEquals(await counts.get("n", AT), 20);
  const damaged = { text: "s3cret{", expiresAtMs: null };
  await store.put({ name: "count" }, "bad", damaged, null, AT);
  const error = await expectSigError(
    () => counts.get("bad", AT),
    "store_unavailable",
    "Cannot use store in memory: a record of the kind count is damaged",
  );
  assert(!Deno.inspect(error, { depth: 9 }).includes("s3cret"));
});

Deno.test("KV does not write into a database of another program", async () => {
  const { DatabaseSync } = await import("node:sqlite");
  await using folder = await tempFolder();
  const path = `${folder.path}/my #1 file?.db`;
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE theirs (n INTEGER)");
  database.close();
  const before = await Deno.readFile(path);
  await expectSigError(
    () => openStore(`kv:${path}`),
    "store_unavailable",
    "the file belongs to another program",
  );
  assertEquals(await Deno.readFile(path), before);
});

Deno.test("entries of other programs are store_unavailable and not shown", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/kv.db`;
  await writeKv(path, ["sig", "records", "code", "c1"], { text: "s3cret" });
  const store = await openStore(`kv:${path}`);
  const error = await expectSigError(
    () => store.get({ name: "code" }, "c1", AT),
    "store_unavailable",
    `Cannot use store kv:${path}: it contains something other than records`,
  );
  assert(!Deno.inspect(error, { depth: 9 }).includes("s3cret"));
  await store.close();
  await expectSigError(
    () => store.get({ name: "code" }, "c1", AT),
    "store_unavailable",
    "it is closed",
  );
});
