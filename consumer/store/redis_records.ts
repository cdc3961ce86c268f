/** Records in Redis. @module */

import {
  isLive,
  kindFull,
  type RecordKind,
  type RecordStore,
  requireRecordSize,
  type ShownStore,
  type StoredRecord,
} from "./record_store.ts";
import {
  connectRedis,
  type ConnectRedisOptions,
  type RedisAddress,
} from "./redis_connection.ts";

/**
 * A kind is a hash from id to `<expires>:<version>:<text>` (an empty expiry
 * means never), and a sorted set of ids by expiry, from which each put removes
 * up to a hundred expired ids. Both expire with their last record.
 */
const FIND = `
local raw = redis.call('HGET', KEYS[1], ARGV[1])
local at = tonumber(ARGV[2])
local expires, version
if raw then
  expires, version = string.match(raw, '^(%d*):([^:]*):')
  if expires ~= '' and not (at < tonumber(expires)) then raw = false end
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

/** `ARGV`: id, clock, version to overwrite, expiry, new value, limit. */
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
redis.call('ZADD', KEYS[2], ARGV[4] == '' and '+inf' or ARGV[4], ARGV[1])
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
for _, key in ipairs(KEYS) do
  if last == 'inf' then
    redis.call('PERSIST', key)
  else
    redis.call('PEXPIRE', key, string.format('%.0f', tonumber(last) - at))
  end
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
 * Opens Redis 6 or later, or a server that implements its protocol and Lua, as
 * a record store for any number of machines. Every change is one script, which
 * Redis runs atomically.
 *
 * Writes are as durable as the server: a server that falls back to an older
 * replica, or evicts keys, loses records.
 *
 * @throws {SigError} `store_unavailable`; without the password.
 */
export async function openRedisStore(
  address: RedisAddress,
  { place, ...options }: ShownStore & ConnectRedisOptions,
): Promise<RecordStore> {
  const { unavailable } = options;
  const redis = await connectRedis(address, options);
  // In braces, so that a cluster keeps both keys of a kind on one node.
  const run = (script: string, { name }: RecordKind, ...rest: string[]) =>
    redis.run(script, [
      `sig:records:{${name}}`,
      `sig:records:{${name}}:expiry`,
    ], rest);
  const clock = (at: Date) => String(at.getTime());

  function parse(raw: string): StoredRecord {
    const [, expires, version, text] = /^(\d*):([^:]+):(.*)$/s.exec(raw) ?? [];
    if (version === undefined || text === undefined) {
      throw unavailable("it contains something other than records");
    }
    return { text, version, expiresAtMs: expires ? Number(expires) : null };
  }

  return {
    place,
    async get(kind, id, at) {
      const [raw] = await run(GET, kind, id, clock(at));
      return raw === undefined ? undefined : parse(raw);
    },
    async put(kind, id, { text, expiresAtMs }, over, at) {
      requireRecordSize(text, unavailable);
      const expires = expiresAtMs === null ? "" : `${Math.ceil(expiresAtMs)}`;
      const version = crypto.randomUUID();
      const [answer] = await run(
        PUT,
        kind,
        id,
        clock(at),
        over ?? "",
        expires,
        `${expires}:${version}:${text}`,
        `${kind.maxRecords ?? 1e15}`,
      );
      if (answer === "full") throw kindFull(kind);
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
        if (isLive(record, at)) records.push({ id: pairs[i]!, ...record });
      }
      return next === "0" ? { records } : { records, next };
    },
    close: () => redis.close(),
  };
}

/** Returns the address for messages, without user and password. */
export function placeOf(
  { hostname, port, tls, database }: RedisAddress,
): string {
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return `redis${tls ? "s" : ""}://${host}:${port}/${database}`;
}
