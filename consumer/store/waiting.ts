/** Retries and deadlines for calls of a store. @module */

/** Maximum pause between two attempts in milliseconds. */
const MAX_PAUSE_MS = 100;

interface RetryOptions {
  /**
   * Returns whether an error means that the store was busy or changed by
   * another process.
   */
  readonly isBusy: (error: unknown) => boolean;
  /** Time limit for the retries in milliseconds. */
  readonly timeoutMs: number;
  /** Stops the retries, also during a pause. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Repeats the work while the store is busy, at growing and random intervals so
 * that processes don't collide again. After the timeout it rejects with the
 * last error. A failed attempt must have had no effect.
 */
export async function retryWhileBusy<T>(
  work: () => T | Promise<T>,
  { isBusy, timeoutMs, signal }: RetryOptions,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = 1;; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    let busy: unknown;
    try {
      return await work();
    } catch (error) {
      const isOver = signal?.aborted || performance.now() >= end;
      if (!isBusy(error) || isOver) throw error;
      busy = error;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, pauseMs * (0.5 + Math.random()));
    const stop = () => resolve();
    signal?.addEventListener("abort", stop);
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    // Work must not start after its deadline.
    if (signal?.aborted) throw busy;
  }
}

/** Thrown if the deadline has passed. */
export class DeadlineOver extends Error {
  override readonly name = "DeadlineOver";
}

/**
 * Waits for the work until the deadline. Then it aborts the signal, so that the
 * work can skip steps that have not started.
 *
 * @throws {DeadlineOver}
 */
export async function withDeadline<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new DeadlineOver());
    ending.abort();
  }, timeoutMs);
  const working = work(ending.signal);
  // A later rejection must not be unhandled.
  working.catch(() => {});
  try {
    return await Promise.race([working, promise]);
  } finally {
    clearTimeout(timer);
  }
}
