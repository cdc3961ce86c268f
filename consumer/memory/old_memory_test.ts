// testdata/memory_v1.json is what version 1 wrote: an issuer of four events, whose
// history was contradicted once, and a cursor behind the second event.
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createConsumer } from "../create_consumer.ts";
import { openPinStore, showPin } from "../pins.ts";
import fixture from "../testdata/memory_v1.json" with { type: "json" };
import {
  askRedis,
  HAS_REDIS,
  startRedis,
} from "../../tests/kit/redis_server.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  DID,
  feedOf,
  importTestKeys,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

const [key] = await importTestKeys();
const BOB = "did:web:bob.example";

/** Serves the first `n` of the lines; counts requests for the feed. */
function serverOf() {
  const documents = makeDocuments({ keys: [key!], lines: [] });
  let feeds = 0;
  return {
    get feeds() {
      return feeds;
    },
    publish: (n: number) =>
      documents.set(PATHS.feed, feedOf(fixture.lines.slice(0, n))),
    fetch: (request: Request) => {
      const { pathname } = new URL(request.url);
      if (pathname === PATHS.feed) feeds++;
      const body = documents.get(pathname) as BodyInit;
      const type = pathname === PATHS.feed
        ? "application/x-ndjson"
        : "application/json";
      return Promise.resolve(
        new Response(body, { headers: { "content-type": type } }),
      );
    },
  };
}

/** A store that version 1 has written is opened, again and again. */
async function takesOver(text: string): Promise<void> {
  const server = serverOf();
  const ask = async (work: (consumer: Asked) => Promise<void>) => {
    const pins = await openPinStore(text);
    try {
      const consumer = createConsumer({
        issuers: [DID],
        pins,
        now: () => new Date("2026-06-01T00:00:30Z"),
        fetch: server.fetch,
      });
      await work({ pins, consumer });
    } finally {
      await pins.close();
    }
  };
  const question = { subject: BOB, require: ["role=deploy"] };
  // It is not seen for the first time.
  server.publish(3);
  for (let process = 0; process < 2; process++) {
    await ask(async ({ consumer }) => {
      await expectSigError(
        () => consumer.check(DID, question),
        "feed_rolled_back",
        "the feed ends at sequence 3, but 4 events are remembered",
      );
    });
  }
  server.publish(4);
  const before = server.feeds;
  await ask(async ({ consumer, pins }) => {
    const answer = await consumer.check(DID, question);
    assertEquals(answer.decision, "deny");
    assertEquals(answer.continuity, "consistent");
    assertEquals(answer.warnings.map(({ code }) => code), [
      ...["history_was_inconsistent", "revoke_without_upsert"],
    ]);
    const pin = await showPin(pins, DID);
    assertEquals(
      [pin.sequence, pin.first_seen, pin.incident],
      [4, "2026-06-01T00:00:00Z", null],
    );
    const seen: number[] = [];
    for await (const { sequence } of consumer.watch(DID, { once: true })) {
      seen.push(sequence);
    }
    assertEquals(seen, [3, 4]);
  });
  // The whole feed was verified once.
  const { feeds } = server;
  assertEquals(feeds > before, true);
}

type Asked = {
  readonly pins: Awaited<ReturnType<typeof openPinStore>>;
  readonly consumer: ReturnType<typeof createConsumer>;
};

Deno.test("pins and cursors of version 1 are taken over: a file", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pins.db`;
  const database = new DatabaseSync(path);
  for (const statement of fixture.sqlite) database.exec(statement);
  database.close();
  Deno.chmodSync(path, 0o600);
  await takesOver(path);
  const after = new DatabaseSync(path);
  const tables = after.prepare(
    "SELECT name FROM sqlite_schema WHERE type='table' ORDER BY name",
  ).all().map(({ name }) => String(name));
  assertEquals(tables.some((name) => ["pins", "rows"].includes(name)), false);
  after.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("pins and cursors of version 1 are taken over: Deno KV", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pins.kv`;
  const { openKv } = Deno as unknown as {
    openKv(path: string): Promise<{
      set(key: readonly unknown[], value: unknown): Promise<unknown>;
      close(): void;
    }>;
  };
  const kv = await openKv(path);
  for (const [key, value] of fixture.kv as [unknown[], unknown][]) {
    const { bytes } = value as { bytes?: { $bytes: string } };
    await kv.set(
      key,
      bytes === undefined ? value : {
        ...value as object,
        bytes: new TextEncoder().encode(bytes.$bytes),
      },
    );
  }
  kv.close();
  await takesOver(`kv:${path}`);
  await Deno.remove(folder, { recursive: true });
});

Deno.test({
  name: "pins and cursors of version 1 are taken over: Redis",
  ignore: !HAS_REDIS,
  async fn() {
    const redis = await startRedis();
    const quoted = (text: string) => JSON.stringify(text);
    for (const [key, value] of Object.entries(fixture.redis)) {
      const parts = Array.isArray(value) ? value : Object.entries(value).flat();
      const command = Array.isArray(value) ? "SADD" : "HSET";
      const words = [key, ...parts].map(quoted).join(" ");
      await askRedis(redis.port, `${command} ${words}`);
    }
    await takesOver(redis.url);
    await redis.stop();
  },
});

Deno.test("an old pin that was altered is not taken over", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pins.db`;
  const database = new DatabaseSync(path);
  for (const statement of fixture.sqlite) database.exec(statement);
  database.exec("UPDATE pins SET body=replace(body, '{\"pin\"', '{\"nip\"')");
  database.close();
  Deno.chmodSync(path, 0o600);
  for (let process = 0; process < 2; process++) {
    await expectSigError(
      () => openPinStore(path),
      "store_unavailable",
      `Cannot use store ${path}: a pin of an earlier version is damaged`,
    );
  }
  await Deno.remove(folder, { recursive: true });
});
