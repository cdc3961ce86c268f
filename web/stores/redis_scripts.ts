/**
 * What Redis does by itself, in one step each. A challenge is a hash: `record`
 * (JSON, gone once it is over), `expires` (milliseconds), `failures`, `used`.
 * A missing key is nothing that was ever used, so a script never creates one
 * but in {@linkcode CREATE}.
 *
 * @module
 */

import { MAX_COUNTED_FAILURES, REMEMBER_MS } from "./challenge_store.ts";

/** Leaves the challenge's state in `state`; `ARGV[1]` is the clock. */
const JUDGE = `
local v = redis.call('HMGET', KEYS[1], 'expires', 'used', 'failures')
local at = tonumber(ARGV[1])
local state = 'issued'
if not v[1] or not (at < tonumber(v[1]) + ${REMEMBER_MS}) then
  state = 'not_found'
elseif v[2] then
  state = 'used'
elseif tonumber(v[3]) >= ${MAX_COUNTED_FAILURES} then
  state = 'burned'
elseif not (at < tonumber(v[1])) then
  state = 'expired'
end
`;

/** `ARGV`: record, expires, lifetime of the key in milliseconds. */
export const CREATE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return {'taken'} end
redis.call('HSET', KEYS[1], 'record', ARGV[1], 'expires', ARGV[2], 'failures', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {'created'}
`;

/** `ARGV`: the clock. Returns the state and, of an open one, the record. */
export const READ = `${JUDGE}
if state ~= 'issued' then return {state} end
return {state, redis.call('HGET', KEYS[1], 'record')}
`;

/** `ARGV`: the clock. Returns the state after it. */
export const COUNT_FAILURE = `${JUDGE}
if state ~= 'issued' then return {state} end
if redis.call('HINCRBY', KEYS[1], 'failures', 1) < ${MAX_COUNTED_FAILURES} then
  return {state}
end
redis.call('HDEL', KEYS[1], 'record')
return {'burned'}
`;

/** `ARGV`: the clock. Returns `consumed` once, else the state. */
export const CONSUME = `${JUDGE}
if state ~= 'issued' then return {state} end
redis.call('HSET', KEYS[1], 'used', 1)
redis.call('HDEL', KEYS[1], 'record')
return {'consumed'}
`;
