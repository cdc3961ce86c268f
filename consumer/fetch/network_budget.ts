/** Limits how long one fetch waits for the network. @module */

/** Timers use 32 bits: a longer delay would fire immediately. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Thrown by {@linkcode NetworkBudget.wait} if a wait took too long. */
export class WaitTimeout extends Error {
  /**
   * The limit that was reached: that of this wait, or that of the whole budget.
   */
  readonly scope: "wait" | "total";

  constructor(scope: "wait" | "total") {
    super(`Cannot wait longer: the ${scope} limit is reached`);
    this.scope = scope;
  }
}

/** The total time that one fetch may spend waiting. */
export interface NetworkBudget {
  /** Time waited so far in milliseconds. */
  readonly spentMs: number;
  /**
   * Waits for `work`, at most `limitMs` and the rest of the budget. Rejects
   * with {@linkcode WaitTimeout}, or with the signal's reason if the caller
   * aborts. The caller must then stop the work itself.
   */
  wait<T>(work: Promise<T>, limitMs?: number): Promise<T>;
}

/**
 * Creates a budget. Only the time within {@linkcode NetworkBudget.wait} counts:
 * verifying between two chunks takes nothing from a slow network, while a
 * server that drips a byte at a time uses up the budget.
 *
 * The clock is monotonic and is never compared with the time of day.
 */
export function createNetworkBudget(
  totalMs: number,
  signal?: AbortSignal,
): NetworkBudget {
  let spentMs = 0;
  // A timer may fire slightly early, which must not leave time for another
  // wait.
  let isOver = false;
  return {
    get spentMs() {
      return spentMs;
    },
    async wait<T>(work: Promise<T>, limitMs = Infinity): Promise<T> {
      // The work may reject after the wait has ended.
      work.catch(() => {});
      signal?.throwIfAborted();
      const leftMs = totalMs - spentMs;
      if (isOver || leftMs <= 0) throw new WaitTimeout("total");
      if (limitMs <= 0) throw new WaitTimeout("wait");
      const scope = limitMs < leftMs ? "wait" : "total";
      const { promise: stop, reject } = Promise.withResolvers<never>();
      const onAbort = () => reject(signal?.reason);
      signal?.addEventListener("abort", onAbort);
      const timer = setTimeout(() => {
        isOver = scope === "total";
        reject(new WaitTimeout(scope));
      }, Math.min(limitMs, leftMs));
      const startedAt = performance.now();
      try {
        return await Promise.race([work, stop]);
      } finally {
        spentMs += performance.now() - startedAt;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      }
    },
  };
}

/**
 * Maximum wait for a close in milliseconds. Closing takes no time unless there
 * is a bug.
 */
const CLOSE_TIMEOUT_MS = 1_000;

/** Waits until `closing` settles, one second at most. Never rejects. */
export async function waitForClose(closing: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, CLOSE_TIMEOUT_MS);
  await Promise.race([closing.catch(() => {}), over.promise]);
  clearTimeout(timer);
}
