/** Limits how many pieces of work run concurrently. @module */

import { SigError } from "@sig/core";

/** Options of {@linkcode Semaphore}. */
export interface SemaphoreOptions {
  /** Maximum number of concurrent holders. */
  readonly maxWorking: number;
  /** Maximum number of waiters. */
  readonly maxWaiting: number;
  /** Maximum wait in milliseconds. */
  readonly maxWaitMs: number;
  /**
   * Creates the error if a caller is refused (default: an error about feeds).
   */
  readonly refuse?: ((retryAfterSeconds: number) => SigError) | undefined;
}

/**
 * Limits concurrency, first come, first served. Refuses a caller that would
 * wait too long.
 *
 * @example
 * ```ts
 * import { Semaphore } from "@sig/consumer/internal";
 *
 * const semaphore = new Semaphore({ maxWorking: 1, maxWaiting: 10, maxWaitMs: 1_000 });
 * await semaphore.enter();
 * try {
 *   // The work.
 * } finally {
 *   semaphore.leave();
 * }
 * ```
 */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #queue: (() => void)[] = [];
  #free: number;

  /** Creates a semaphore with all places free. */
  constructor(options: SemaphoreOptions) {
    this.#options = options;
    this.#free = options.maxWorking;
  }

  /**
   * Takes a place, which {@linkcode leave} returns. Waits until a place is
   * free.
   *
   * @throws {SigError} `overloaded` if the queue is full or the wait too long.
   */
  async enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { maxWaiting, maxWaitMs } = this.#options;
    if (this.#queue.length >= maxWaiting) throw this.#refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push(resolve);
    const timer = setTimeout(() => {
      const at = this.#queue.indexOf(resolve);
      // Not in the queue: it has been given a place.
      if (at < 0) return;
      this.#queue.splice(at, 1);
      reject(this.#refusal());
    }, maxWaitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns a place. The next waiter gets it immediately. */
  leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free++;
    else next();
  }

  #refusal(): SigError {
    const { maxWaitMs, refuse = tooManyFeeds } = this.#options;
    return refuse(Math.max(1, Math.ceil(maxWaitMs / 1000)));
  }
}

function tooManyFeeds(retryAfterSeconds: number): SigError {
  return new SigError("overloaded", {
    action: "read feed",
    reason: "too many large feeds are being read before this one",
    context: {
      retry_after_seconds: retryAfterSeconds,
      hint: "Ask again later; issuers on the list need not wait.",
    },
  });
}
