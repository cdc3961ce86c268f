/** A few places for heavy work, and a line before them. @module */

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
  const line: (() => void)[] = [];
  let free = places;

  const enter = () =>
    new Promise<void>((resolve, reject) => {
      if (free > 0) {
        free--;
        resolve();
        return;
      }
      const go = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.splice(line.indexOf(go), 1);
        reject(overloaded(maxWaitMs));
      }, maxWaitMs);
      line.push(go);
    });
  const leave = () => {
    const go = line.shift();
    // The place goes on to the next one; nobody can come in between.
    if (go === undefined) free++;
    else go();
  };

  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

function overloaded(maxWaitMs: number): SigError {
  return new SigError(
    "overloaded",
    `Cannot answer: other large feeds were verified for ${
      maxWaitMs / 1000
    } s before this one`,
    {
      context: {
        retry_after_seconds: Math.max(1, Math.ceil(maxWaitMs / 1000)),
        hint: "Ask again later, or publish the feed and name its issuer.",
      },
    },
  );
}
