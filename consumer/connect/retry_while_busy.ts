/** Trying again what a store was too busy for. @module */

/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 100;

/** What {@linkcode retryWhileBusy} needs. */
export interface RetryOptions {
  /** Whether a failure only means that others were faster. */
  readonly isBusy: (error: unknown) => boolean;
  /** How long to go on, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Does the work, again and again while the store is busy, at longer and uneven
 * intervals so that those who wait don't march in step. When the time is over,
 * the last failure is thrown. The work must not have happened when it failed.
 */
export async function retryWhileBusy<T>(
  work: () => Promise<T>,
  { isBusy, timeoutMs }: RetryOptions,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = 1;; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= end) throw error;
    }
    await new Promise((done) =>
      setTimeout(done, pauseMs * (0.5 + Math.random()))
    );
  }
}
