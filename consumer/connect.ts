/**
 * Connections to stores that several processes share: what the memory of
 * issuers and other stores have in common.
 *
 * @example
 * ```ts
 * import { parseRedisUrl } from "@sig/consumer/connect";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseRedisUrl("rediss://redis.example/2").database, 2);
 * ```
 *
 * @module
 */
export { parseRedisUrl, type RedisAddress } from "./connect/redis_address.ts";
export {
  connectRedis,
  type ConnectRedisOptions,
  type RedisConnection,
  type Unavailable,
} from "./connect/redis_connection.ts";
export {
  type RetryOptions,
  retryWhileBusy,
} from "./connect/retry_while_busy.ts";
export {
  isKvBusy,
  type Kv,
  type KvFound,
  type KvKey,
  type KvTransaction,
  openKv,
  type OpenKvOptions,
} from "./connect/deno_kv.ts";
export { DeadlineOver, withDeadline } from "./connect/with_deadline.ts";
