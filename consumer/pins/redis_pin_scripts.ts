/**
 * What Redis does by itself, in one step each. An issuer is a hash: the fields
 * `revision`, `state` and `body` are its entry, fields that begin with `=` are
 * rows.
 *
 * @module
 */

/** Returns revision, state and body, or nothing. */
export const GET = `
local v = redis.call('HMGET', KEYS[1], 'revision', 'state', 'body')
if not (v[1] and v[2] and v[3]) then return {} end
return v
`;

/** Returns the issuers. */
export const LIST = `return redis.call('SMEMBERS', KEYS[1])`;

/** `ARGV`: state, keys. Returns `ok` and values with `=` in front, `-` for none. */
export const ROWS = `
if redis.call('HGET', KEYS[1], 'state') ~= ARGV[1] then return {'moved'} end
local found = {'ok'}
for i = 2, #ARGV do
  local v = redis.call('HGET', KEYS[1], '=' .. ARGV[i])
  found[i] = v and ('=' .. v) or '-'
end
return found
`;

/** `ARGV`: state, cursor, pattern. Returns `ok`, the next cursor, fields and values. */
export const ALL = `
if redis.call('HGET', KEYS[1], 'state') ~= ARGV[1] then return {'moved'} end
local page = redis.call('HSCAN', KEYS[1], ARGV[2], 'MATCH', ARGV[3], 'COUNT', 1000)
local found = {'ok', page[1]}
for i, v in ipairs(page[2]) do found[i + 2] = v end
return found
`;

/**
 * `ARGV`: lifetime in milliseconds, whether rows were staged before, then keys
 * and values.
 */
export const STAGE = `
if ARGV[2] == '1' and redis.call('EXISTS', KEYS[1]) == 0 then return {'lost'} end
for i = 3, #ARGV, 2 do
  redis.call('HSET', KEYS[1], '=' .. ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[2], KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return {'ok'}
`;

/**
 * `ARGV`: issuer, revision, state, body, whether rows were staged, the state
 * that must be there or nothing, then keys and values.
 */
export const PUT = `
local before = redis.call('HGET', KEYS[1], 'revision') or '0'
if tonumber(ARGV[2]) ~= tonumber(before) + 1 then return {'outdated'} end
if ARGV[6] ~= '' and redis.call('HGET', KEYS[1], 'state') ~= ARGV[6] then
  return {'outdated'}
end
if redis.call('HGET', KEYS[1], 'state') ~= ARGV[3] then
  local staged = redis.call('EXISTS', KEYS[2]) == 1
  if ARGV[5] == '1' and not staged then return {'lost'} end
  redis.call('UNLINK', KEYS[1])
  if staged then
    redis.call('RENAME', KEYS[2], KEYS[1])
    redis.call('PERSIST', KEYS[1])
  end
  for _, dead in ipairs(redis.call('SMEMBERS', KEYS[4])) do
    redis.call('UNLINK', dead)
  end
  redis.call('UNLINK', KEYS[4])
end
for i = 7, #ARGV, 2 do
  redis.call('HSET', KEYS[1], '=' .. ARGV[i], ARGV[i + 1])
end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'state', ARGV[3], 'body', ARGV[4])
redis.call('SADD', KEYS[3], ARGV[1])
return {'written'}
`;

/** `ARGV`: issuer. Returns how many there were. */
export const REMOVE = `
redis.call('SREM', KEYS[2], ARGV[1])
return {tostring(redis.call('UNLINK', KEYS[1]))}
`;
