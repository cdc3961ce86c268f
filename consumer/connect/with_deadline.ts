/** Waiting for a store, but not for ever. @module */

/** The time is over. */
export class DeadlineOver extends Error {
  /** Always `DeadlineOver`. */
  override readonly name = "DeadlineOver";
}

/**
 * Waits no longer than that; work that looks at the signal can leave undone
 * what it has not begun by then.
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
  // Whoever comes second must not be an unhandled rejection.
  working.catch(() => {});
  try {
    return await Promise.race([working, promise]);
  } finally {
    clearTimeout(timer);
  }
}
