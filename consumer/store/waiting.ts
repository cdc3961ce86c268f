/** Waiting for a store: repeated attempts and deadlines. @module */

/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 100;

/** What {@linkcode retryWhileBusy} needs. */
export interface RetryOptions {
  /** Whether an error only means that another process was faster. */
  readonly isBusy: (error: unknown) => boolean;
  /** How long to retry, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the retrying, also in a pause. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Repeats the work while the store is busy, at growing and random intervals so
 * that several processes don't collide again. After the timeout the last error
 * is thrown. A failed attempt must have had no effect.
 */
export async function retryWhileBusy<T>(
  work: () => Promise<T>,
  { isBusy, timeoutMs, signal }: RetryOptions,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = 1;; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const isOver = signal?.aborted || performance.now() >= end;
      if (!isBusy(error) || isOver) throw error;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, pauseMs * (0.5 + Math.random()));
    const stop = () => resolve();
    signal?.addEventListener("abort", stop);
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** The deadline has passed. */
export class DeadlineOver extends Error {
  /** Always `DeadlineOver`. */
  override readonly name = "DeadlineOver";
}

/**
 * Waits for the work until the deadline. The signal is aborted then, so that
 * work which watches it can skip what it has not started.
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
  // Its later failure must not become an unhandled rejection.
  working.catch(() => {});
  try {
    return await Promise.race([working, promise]);
  } finally {
    clearTimeout(timer);
  }
}
