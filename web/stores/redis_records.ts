/** Sessions, codes and the like in Redis. @module */

import type { RedisConnection } from "@sig/consumer/connect";
import {
  kindFull,
  RECORD_LIMITS,
  type RecordKind,
  type RecordStore,
  type StoredRecord,
} from "./record_store.ts";
import { storeUnavailable } from "./store_unavailable.ts";

/**
 * A kind is a hash from id to `<expires>:<version>:<text>`, and a sorted set of
 * ids by expiry, from which each put sweeps a hundred. Both expire with their
 * last record.
 */
const FIND = `
local raw = redis.call('HGET', KEYS[1], ARGV[1])
local at = tonumber(ARGV[2])
local expires, version
if raw then
  expires, version = string.match(raw, '^(%d+):([^:]*):')
  if not (at < tonumber(expires)) then raw = false end
end
`;

/** `ARGV`: id, clock. */
const GET = `${FIND}
if not raw then return {} end
return {raw}
`;

/** `ARGV`: id, clock. */
const TAKE = `${FIND}
if not raw then return {} end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return {raw}
`;

/** `ARGV`: id, clock, version to write over, expires, new value, limit. */
const PUT = `${FIND}
if ARGV[3] == '' then
  if raw then return {'changed'} end
elseif not raw or version ~= ARGV[3] then
  return {'changed'}
end
local over = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', at, 'LIMIT', 0, 100)
for _, id in ipairs(over) do
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
end
if not raw and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[6]) then
  return {'full'}
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
local life = tonumber(ARGV[4]) - at
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, life) end
end
return {'put'}
`;

/** `ARGV`: cursor. */
const LIST = `
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', 500)
table.insert(page[2], 1, page[1])
return page[2]
`;

/**
 * Keeps records in Redis, for any number of machines. Every change is one
 * script, which Redis runs alone.
 *
 * @param limits how many of a kind at most; those of `RECORD_LIMITS` unless told.
 */
export function keepRecordsInRedis(
  redis: RedisConnection,
  limits: Partial<Record<RecordKind, number>> = {},
): RecordStore {
  // In braces, so that a cluster keeps both keys of a kind together.
  const run = (script: string, kind: RecordKind, ...rest: string[]) =>
    redis.run(script, [
      `sig:records:{${kind}}`,
      `sig:records:{${kind}}:expiry`,
    ], rest);
  const clock = (at: Date) => String(at.getTime());
  return {
    async get(kind, id, at) {
      const [raw] = await run(GET, kind, id, clock(at));
      return raw === undefined ? undefined : parse(raw);
    },
    async put(kind, id, { text, expiresAtMs }, over, at) {
      const limit = limits[kind] ?? RECORD_LIMITS[kind];
      const expires = String(Math.ceil(expiresAtMs));
      const version = crypto.randomUUID();
      const [answer] = await run(
        PUT,
        kind,
        ...[id, clock(at), over ?? "", expires],
        ...[`${expires}:${version}:${text}`, String(limit)],
      );
      if (answer === "full") throw kindFull(kind, limit);
      return answer === "put";
    },
    async take(kind, id, at) {
      const [raw] = await run(TAKE, kind, id, clock(at));
      return raw === undefined ? undefined : parse(raw);
    },
    async list(kind, at, from = "0") {
      const [next = "0", ...pairs] = await run(LIST, kind, from);
      const records = [];
      for (let i = 0; i + 1 < pairs.length; i += 2) {
        const record = parse(pairs[i + 1]!);
        if (!(at.getTime() < record.expiresAtMs)) continue;
        records.push({ id: pairs[i]!, ...record });
      }
      return next === "0" ? { records } : { records, next };
    },
    close: () => redis.close(),
  };
}

function parse(raw: string): StoredRecord {
  const [, expires, version, text] = /^(\d+):([^:]*):(.*)$/s.exec(raw) ?? [];
  if (expires === undefined || version === undefined || text === undefined) {
    throw storeUnavailable("it holds something else than records");
  }
  return { text, version, expiresAtMs: Number(expires) };
}
