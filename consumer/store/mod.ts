/**
 * The record store of the toolkit: short texts by kind and id, with versions
 * and expiry, in memory, in Deno KV or in Redis.
 *
 * @example A record that only one caller can take
 * ```ts
 * import { openStore, recordsOf } from "@sig/consumer/store";
 * import { assertEquals } from "@std/assert";
 *
 * const store = await openStore("memory");
 * const codes = recordsOf<{ client: string }>(store, {
 *   name: "code",
 *   maxRecords: 1_000,
 * });
 * const at = new Date("2026-01-31T09:00:00Z");
 * const end = new Date("2026-01-31T09:01:00Z");
 * await codes.create("c1", { client: "shop" }, end, at);
 * assertEquals(await codes.take("c1", at), { client: "shop" });
 * assertEquals(await codes.take("c1", at), undefined);
 * await store.close();
 * ```
 *
 * @module
 */
export { createMemoryStore } from "./memory_store.ts";
export { openStore, type OpenStoreOptions } from "./open_store.ts";
export {
  MAX_RECORD_BYTES,
  type NewRecord,
  type RecordKind,
  type RecordPage,
  type RecordStore,
  type StoredRecord,
  storeUnavailable,
} from "./record_store.ts";
export {
  type Changed,
  type ChangeOptions,
  type Found,
  type Records,
  recordsOf,
} from "./records.ts";
export { parseRedisUrl, type RedisAddress } from "./redis_connection.ts";
