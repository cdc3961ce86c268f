/** A few places for heavy work, and a line before them. @module */

import { Places } from "@sig/consumer";
import { SigError } from "@sig/core";

/** Options of {@linkcode createTurns}. */
export interface TurnsOptions {
  /** How many work at a time. */
  readonly places: number;
  /** Milliseconds in the line at most. */
  readonly maxWaitMs: number;
}

/** Does the work when it is its turn. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Makes a line: first come, first served. Verifying many large feeds at the
 * same time would hold all of their states at once, and finish none of them
 * sooner.
 *
 * @throws {SigError} from the function: `overloaded` for who waits too long,
 * and whatever the work throws.
 */
export function createTurns({ places, maxWaitMs }: TurnsOptions): TakeTurn {
  const line = new Places({
    maxWorking: places,
    maxWaiting: Infinity,
    maxWaitMs,
    refuse: (retryAfterSeconds) => overloaded(maxWaitMs, retryAfterSeconds),
  });
  return async (work) => {
    await line.enter();
    try {
      return await work();
    } finally {
      line.leave();
    }
  };
}

function overloaded(maxWaitMs: number, retryAfterSeconds: number): SigError {
  return new SigError(
    "overloaded",
    `Cannot answer: other large feeds were verified for ${
      maxWaitMs / 1000
    } s before this one`,
    {
      context: {
        retry_after_seconds: retryAfterSeconds,
        hint: "Ask again later, or publish the feed and name its issuer.",
      },
    },
  );
}
