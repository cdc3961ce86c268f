import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { openStore } from "./open_store.ts";
import { openRedisStore, placeOf } from "./redis_records.ts";
import { parseRedisUrl } from "./redis_connection.ts";
import {
  askRedis,
  HAS_REDIS,
  startRedis,
  whileFrozen,
} from "../../tests/kit/redis_server.ts";
import { type RecordStore, storeUnavailable } from "./record_store.ts";
import { freePort, run } from "../../tests/kit/process.ts";
import { waitForEqual } from "../../tests/kit/wait.ts";

const AT = new Date("2026-01-31T09:00:00Z");
const KIND = { name: "test" };

async function keep(store: RecordStore): Promise<void> {
  const expiresAtMs = AT.getTime() + 60_000;
  const id = crypto.randomUUID();
  for (const each of ["a", id]) {
    await store.put(KIND, each, { text: "{}", expiresAtMs }, null, AT);
  }
}

function redisTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_REDIS, fn });
}

redisTest(
  "a lost connection is opened again, and the records are kept",
  async () => {
    await using redis = await startRedis();
    const store = await openStore(`${redis.url}/3`);
    await keep(store);
    await askRedis(redis.port, "CLIENT KILL TYPE normal");
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => store.get(KIND, "a", AT)),
    );
    for (const answer of answers) assertEquals(answer?.text, "{}");
    await store.close();
  },
);

function openWithin2s(url: string): Promise<RecordStore> {
  const address = parseRedisUrl(url);
  const place = placeOf(address);
  const unavailable = storeUnavailable.bind(undefined, place);
  return openRedisStore(address, { place, unavailable, timeoutMs: 2_000 });
}

redisTest(
  "a server that is gone is store_unavailable within the timeout",
  async () => {
    const redis = await startRedis();
    const store = await openWithin2s(redis.url);
    await redis.stop();
    for (const ask of ["get", "take"] as const) {
      await expectSigError(
        () => store[ask](KIND, "a", AT),
        "store_unavailable",
        `Cannot use store ${redis.url}/0: Redis`,
      );
    }
    // The server returns empty; the store reconnects automatically.
    const again = await startRedis([], redis.port);
    await waitForEqual(() => store.take(KIND, "a", AT), undefined);
    await store.close();
    await again.stop();
  },
);

redisTest(
  "a server that hangs is store_unavailable within the timeout",
  async () => {
    await using redis = await startRedis();
    const store = await openWithin2s(redis.url);
    await whileFrozen(redis, () =>
      expectSigError(
        () => store.take(KIND, "a", AT),
        "store_unavailable",
        "Redis does not answer in time",
      ));
    await store.close();
  },
);

redisTest(
  "uses a password from the URL or the options, and never shows it",
  async () => {
    await using redis = await startRedis([
      ...["--requirepass", "s3cret/pw"],
      ...["--user", "alice", "on", ">al1ce pw", "~sig:*", "+@all"],
    ]);
    const named = redis.url.replace("//", "//alice@");
    for (
      const [url, password] of [
        [redis.url.replace("//", "//:s3cret%2Fpw@"), undefined],
        [redis.url, "s3cret/pw"],
        [named, "al1ce pw"],
        [`${named}/2`, "al1ce pw"],
      ] as const
    ) {
      const store = await openStore(url, { password });
      await keep(store);
      await store.close();
    }
    for (
      const [url, password, reason] of [
        [redis.url, undefined, "NOAUTH"],
        [redis.url.replace("//", "//u:wr0ng@"), undefined, "WRONGPASS"],
        [named, "wr0ng", "WRONGPASS"],
      ] as const
    ) {
      const error = await expectSigError(
        () => openStore(url, { password }),
        "store_unavailable",
        `no Redis at 127.0.0.1:${redis.port} accepts the connection (${reason})`,
      );
      const shown = Deno.inspect(error, { depth: 20, showHidden: true });
      assertEquals(/wr0ng|s3cret|al1ce|alice/.test(shown), false, shown);
    }
  },
);

redisTest("a refused connection is reported immediately", async () => {
  const port = freePort();
  await expectSigError(
    () => openStore(`redis://:s3cret@127.0.0.1:${port}`),
    "store_unavailable",
    `no Redis at 127.0.0.1:${port} accepts the connection (ECONNREFUSED)`,
  );
});

redisTest(
  "needs network permission for its address only",
  async () => {
    await using redis = await startRedis();
    const open = async (...permissions: readonly string[]) => {
      const worker = new URL("./testdata/open_worker.ts", import.meta.url);
      const { code, stdout, stderr } = await run(Deno.execPath(), [
        ...["run", "--quiet", "--no-prompt", ...permissions],
        ...[worker.pathname, redis.url],
      ]);
      return `${code} ${stdout}${stderr}`;
    };
    assertEquals(
      await open(`--allow-net=127.0.0.1:${redis.port}`),
      "0 opened\n",
    );
    const denied = await open();
    assert(
      denied.includes(`Allow it with --allow-net=127.0.0.1:${redis.port}.`),
      denied,
    );
  },
);
