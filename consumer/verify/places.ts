/** A few places for large work, and a line before them. @module */

import { SigError } from "@sig/core";

/** Options of {@linkcode Places}. */
export interface PlacesOptions {
  /** How many work at a time. */
  readonly maxWorking: number;
  /** How many may stand in the line. */
  readonly maxWaiting: number;
  /** Milliseconds in the line at most. */
  readonly maxWaitMs: number;
  /** What those are told who get no place; about feeds of issuers unless told. */
  readonly refuse?: ((retryAfterSeconds: number) => SigError) | undefined;
}

/**
 * First come, first served; who would wait too long is told to come again.
 *
 * @example
 * ```ts
 * import { Places } from "@sig/consumer";
 *
 * const places = new Places({ maxWorking: 1, maxWaiting: 10, maxWaitMs: 1_000 });
 * await places.enter();
 * try {
 *   // The work.
 * } finally {
 *   places.leave();
 * }
 * ```
 */
export class Places {
  readonly #options: PlacesOptions;
  readonly #line: (() => void)[] = [];
  #free: number;

  /** All places are free. */
  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#free = options.maxWorking;
  }

  /**
   * Takes a place, to be given back by {@linkcode leave}.
   *
   * @throws {SigError} `overloaded` when the line is full or too slow.
   */
  async enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { maxWaiting, maxWaitMs } = this.#options;
    if (this.#line.length >= maxWaiting) throw this.#refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#line.push(resolve);
    const timer = setTimeout(() => {
      const at = this.#line.indexOf(resolve);
      // Not in the line: the place is its own already.
      if (at < 0) return;
      this.#line.splice(at, 1);
      reject(this.#refusal());
    }, maxWaitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives a place back; the next one in the line has it at once. */
  leave(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#free++;
    else next();
  }

  #refusal(): SigError {
    const { maxWaitMs, refuse = tooManyFeeds } = this.#options;
    return refuse(Math.max(1, Math.ceil(maxWaitMs / 1000)));
  }
}

function tooManyFeeds(retryAfterSeconds: number): SigError {
  return new SigError(
    "overloaded",
    "Cannot read feed: too many large feeds are being read before this one",
    {
      context: {
        retry_after_seconds: retryAfterSeconds,
        hint: "Ask again later; issuers on the list need not wait.",
      },
    },
  );
}
