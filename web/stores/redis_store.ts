/** Challenges in Redis. @module */

import { newEntry, recordOf } from "./challenge_entry.ts";
import {
  type ChallengeState,
  type ChallengeStore,
  type Consumption,
  REMEMBER_MS,
} from "./challenge_store.ts";
import {
  connectRedis,
  type RedisAddress,
  type RedisConnection,
} from "@sig/consumer/connect";
import { storeUnavailable } from "./store_unavailable.ts";
import { CONSUME, COUNT_FAILURE, CREATE, READ } from "./redis_scripts.ts";

/** Options of {@linkcode openRedisStore}. */
export interface RedisStoreOptions {
  /** How long one call may take in all, in milliseconds; 5,000 unless told. */
  readonly timeoutMs?: number;
}

/**
 * Keeps challenges in Redis 6 or later (or what speaks its protocol and runs
 * Lua), for any number of machines. Every change is one script, which Redis
 * runs alone. The connection is made again whenever it is lost; a call waits
 * for that, up to its time.
 *
 * Single use is as durable as the server's writes: one that falls back to a
 * replica that lags may forget a use. A server that evicts keys forgets
 * challenges, which are then `not_found` and never used twice.
 *
 * @throws {SigError} `store_unavailable` when the server can't be reached or
 * refuses us; it never holds the password.
 */
export async function openRedisStore(
  address: RedisAddress,
  { timeoutMs }: RedisStoreOptions = {},
): Promise<ChallengeStore> {
  const unavailable = storeUnavailable;
  return keepChallengesInRedis(
    await connectRedis(address, { timeoutMs, unavailable }),
  );
}

/** The same over a connection that is open; closing the store closes it. */
export function keepChallengesInRedis(redis: RedisConnection): ChallengeStore {
  const run = (script: string, id: string, ...rest: readonly string[]) =>
    redis.run(script, [`sig:challenge:${id}`], rest);
  const clock = (at: Date) => String(at.getTime());
  return {
    async create(record, at) {
      const { text, expiresAtMs } = newEntry(record);
      const lifeMs = Math.max(expiresAtMs + REMEMBER_MS - at.getTime(), 1);
      const [answer] = await run(
        CREATE,
        record.challenge_id,
        text,
        String(expiresAtMs),
        String(lifeMs),
      );
      if (answer === "created") return;
      throw new RangeError("Cannot create challenge: its id is taken");
    },
    async read(id, at) {
      const [state, text] = await run(READ, id, clock(at));
      if (state === "issued") return { state, record: recordOf(text ?? "") };
      return { state: state as Exclude<ChallengeState, "issued"> };
    },
    async countFailure(id, at) {
      const [state] = await run(COUNT_FAILURE, id, clock(at));
      return state as ChallengeState;
    },
    async consume(id, at) {
      const [answer] = await run(CONSUME, id, clock(at));
      return answer as Consumption;
    },
    close: () => redis.close(),
  };
}
