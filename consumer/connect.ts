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
export { parseRedisUrl, type RedisAddress } from "./store/redis_url.ts";
export {
  connectRedis,
  type ConnectRedisOptions,
  type RedisConnection,
} from "./store/redis_connection.ts";
export { type RetryOptions, retryWhileBusy } from "./store/waiting.ts";
export {
  isKvBusy,
  type Kv,
  type KvFound,
  type KvKey,
  type KvTransaction,
  openKv,
  type OpenKvOptions,
} from "./store/kv_connection.ts";
export { DeadlineOver, withDeadline } from "./store/waiting.ts";
export type { Unavailable } from "./store/record_store.ts";
