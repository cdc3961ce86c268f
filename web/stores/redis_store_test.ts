import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { openStore } from "./open_store.ts";
import { openRedisStore } from "./redis_store.ts";
import { parseRedisUrl } from "@sig/consumer/connect";
import {
  freePort,
  HAS_REDIS,
  startRedis,
  type TestRedis,
  whileFrozen,
} from "../../tests/kit/redis_server.ts";
import { recordOf, testStoreContract } from "./store_contract.ts";

const AT = new Date("2026-01-31T09:00:00Z");

function redisTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_REDIS, fn });
}

async function withRedis(
  fn: (redis: TestRedis) => Promise<void>,
  args: readonly string[] = [],
): Promise<void> {
  const redis = await startRedis(args);
  try {
    await fn(redis);
  } finally {
    await redis.stop();
  }
}

testStoreContract("redis", async () => {
  const redis = await startRedis();
  const store = await openStore(redis.url);
  const other = await openStore(redis.url);
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

redisTest(
  "a lost connection is made again, what was kept is there",
  () =>
    withRedis(async (redis) => {
      const store = await openStore(`${redis.url}/3`);
      const record = recordOf();
      await store.create(record, AT);
      await redisCommand(redis.port, "CLIENT KILL TYPE normal");
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => store.read(record.challenge_id, AT)),
      );
      for (const answer of answers) {
        assertEquals(answer, { state: "issued", record });
      }
      await store.close();
    }),
);

redisTest("a server that is gone is unavailable, within the time", async () => {
  const redis = await startRedis();
  const store = await openRedisStore(parseRedisUrl(redis.url), {
    timeoutMs: 300,
  });
  const { challenge_id } = recordOf();
  await redis.stop();
  for (const ask of ["read", "consume", "countFailure"] as const) {
    await expectSigError(
      () => store[ask](challenge_id, AT),
      "store_unavailable",
      "Cannot use challenge store: Redis",
    );
  }
  // It comes back, empty; the store needs no help.
  const again = await startRedis([], redis.port);
  const patient = { tries: 0 };
  for (;;) {
    try {
      assertEquals(await store.consume(challenge_id, AT), "not_found");
      break;
    } catch (error) {
      if (++patient.tries > 20) throw error;
    }
  }
  await store.close();
  await again.stop();
});

redisTest(
  "a server that hangs is unavailable, within the time",
  () =>
    withRedis(async (redis) => {
      const store = await openRedisStore(parseRedisUrl(redis.url), {
        timeoutMs: 200,
      });
      await whileFrozen(redis, () =>
        expectSigError(
          () => store.consume(recordOf().challenge_id, AT),
          "store_unavailable",
          "Redis does not answer in time",
        ));
      await store.close();
    }),
);

redisTest(
  "a server that is full is unavailable, and nothing is forgotten",
  () =>
    withRedis(async (redis) => {
      const store = await openStore(redis.url);
      const record = recordOf();
      await store.create(record, AT);
      await redisCommand(redis.port, "CONFIG SET maxmemory 1");
      await expectSigError(
        () => store.create(recordOf(), AT),
        "store_unavailable",
        "Redis failed",
      );
      await redisCommand(redis.port, "CONFIG SET maxmemory 0");
      assertEquals(await store.consume(record.challenge_id, AT), "consumed");
      await store.close();
    }, ["--maxmemory-policy", "noeviction"]),
);

redisTest(
  "keys live as long as they are remembered, and no longer",
  () =>
    withRedis(async (redis) => {
      const store = await openStore(redis.url);
      const record = recordOf();
      await store.create(record, AT);
      await store.consume(record.challenge_id, AT);
      const key = `sig:challenge:${record.challenge_id}`;
      const answer = await redisCommand(redis.port, `PTTL ${key}`);
      const ms = Number(/^:(\d+)/.exec(answer)?.[1]);
      assert(ms > 300_000 && ms <= 360_000, answer);
      // Of a used challenge only the mark is kept.
      const fields = await redisCommand(redis.port, `HKEYS ${key}`);
      assertEquals(fields.includes("record"), false, fields);
      await store.close();
    }),
);

redisTest(
  "a password is used, and shown nowhere",
  () =>
    withRedis(async (redis) => {
      const right = `redis://:s3cret%2Fpw@127.0.0.1:${redis.port}`;
      const store = await openStore(right);
      await store.create(recordOf(), AT);
      await store.close();

      const wrong = `redis://user-x:wr0ng-pw@127.0.0.1:${redis.port}`;
      const error = await expectSigError(
        () => openStore(wrong),
        "store_unavailable",
        `no Redis at 127.0.0.1:${redis.port} accepts the connection (WRONGPASS)`,
      );
      const none = await expectSigError(
        () => openStore(redis.url),
        "store_unavailable",
        "accepts the connection (NOAUTH)",
      );
      for (const each of [error, none]) {
        const shown = Deno.inspect(each, { depth: 20, showHidden: true });
        for (const secret of ["wr0ng-pw", "s3cret", "user-x"]) {
          assertEquals(shown.includes(secret), false, shown);
        }
      }
    }, ["--requirepass", "s3cret/pw"]),
);

redisTest(
  "a password besides the URL logs in, with and without a name",
  () =>
    withRedis(async (redis) => {
      const named = redis.url.replace("//", "//alice@");
      for (
        const [url, password] of [
          [redis.url, "s3cret/pw"],
          [named, "al1ce pw"],
          [`${named}/2`, "al1ce pw"],
        ] as const
      ) {
        const store = await openStore(url, { password });
        await store.create(recordOf(), AT);
        await store.close();
        for (const wrong of ["wr0ng", undefined]) {
          const error = await expectSigError(
            () => openStore(url, { password: wrong }),
            "store_unavailable",
            "accepts the connection (",
          );
          const shown = Deno.inspect(error, { depth: 20, showHidden: true });
          assertEquals(/wr0ng|s3cret|al1ce|alice/.test(shown), false, shown);
        }
      }
    }, [
      ...["--requirepass", "s3cret/pw"],
      ...["--user", "alice", "on", ">al1ce pw", "~sig:challenge:*", "+@all"],
    ]),
);

redisTest("nobody there is said at once", async () => {
  const port = freePort();
  await expectSigError(
    () => openStore(`redis://:s3cret@127.0.0.1:${port}`),
    "store_unavailable",
    `no Redis at 127.0.0.1:${port} accepts the connection (ECONNREFUSED)`,
  );
});

redisTest(
  "it needs the permission for its address, and no other",
  () =>
    withRedis(async (redis) => {
      const run = async (...permissions: readonly string[]) => {
        const worker = new URL("./testdata/open_worker.ts", import.meta.url);
        const { code, stdout, stderr } = await new Deno.Command(
          Deno.execPath(),
          {
            args: [
              ...["run", "--quiet", "--no-prompt", ...permissions],
              ...[worker.pathname, redis.url],
            ],
            stdin: "null",
            stdout: "piped",
            stderr: "piped",
          },
        ).output();
        const text = new TextDecoder();
        return `${code} ${text.decode(stdout)}${text.decode(stderr)}`;
      };
      assertEquals(
        await run(`--allow-net=127.0.0.1:${redis.port}`),
        "0 opened\n",
      );
      const denied = await run();
      assert(
        denied.includes(`Allow it with --allow-net=127.0.0.1:${redis.port}.`),
        denied,
      );
    }),
);

/** Sends one inline command and returns the raw answer. */
async function redisCommand(port: number, command: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(`${command}\r\n`));
  const buffer = new Uint8Array(4_096);
  const length = await connection.read(buffer);
  return new TextDecoder().decode(buffer.subarray(0, length ?? 0));
}
