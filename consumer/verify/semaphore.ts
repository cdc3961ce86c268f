/** Limits how much work runs at a time. @module */

import { SigError } from "@sig/core";

/** Options of {@linkcode Semaphore}. */
export interface SemaphoreOptions {
  /** How many work at a time. */
  readonly maxWorking: number;
  /** How many may wait. */
  readonly maxWaiting: number;
  /** Milliseconds that each waits at most. */
  readonly maxWaitMs: number;
  /** Makes the error of work that is refused (default: about feeds). */
  readonly refuse?: ((retryAfterSeconds: number) => SigError) | undefined;
}

/**
 * First come, first served; work that would wait too long is refused.
 *
 * @example
 * ```ts
 * import { Semaphore } from "@sig/consumer/internal";
 *
 * const places = new Semaphore({ maxWorking: 1, maxWaiting: 10, maxWaitMs: 1_000 });
 * await places.enter();
 * try {
 *   // The work.
 * } finally {
 *   places.leave();
 * }
 * ```
 */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #line: (() => void)[] = [];
  #free: number;

  /** All places are free. */
  constructor(options: SemaphoreOptions) {
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
