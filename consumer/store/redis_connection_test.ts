import { SigError } from "@sig/core";
import { assert } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  askRedis,
  HAS_REDIS,
  startRedis,
} from "../../tests/kit/redis_server.ts";
import { connectRedis, parseRedisUrl } from "./redis_connection.ts";

const unavailable = (why: string) =>
  new SigError("store_unavailable", { reason: why });

Deno.test({
  name:
    "a server that stays a replica is reported and does not get many connections",
  ignore: !HAS_REDIS,
  async fn() {
    await using redis = await startRedis();
    const connection = await connectRedis(parseRedisUrl(redis.url), {
      timeoutMs: 2_000,
      unavailable,
    });
    try {
      await askRedis(redis.port, "REPLICAOF 127.0.0.1 1");
      await Promise.all(Array.from({ length: 20 }, () =>
        expectSigError(
          () => connection.run("redis.call('SET', KEYS[1], 1)", ["a"], []),
          "store_unavailable",
          "Redis is a replica that takes no writes",
        )));
      const stats = await askRedis(redis.port, "INFO stats");
      const [, count] = /total_connections_received:(\d+)/.exec(stats) ?? [];
      // Our connection, those of this test, and a new one every half second.
      assert(Number(count) < 12, `${count} connections`);
    } finally {
      await connection.close();
    }
  },
});
