/** How long one fetch may wait for the network. @module */

/** Timers hold 32 bits: a longer delay would fire at once. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Thrown by {@linkcode NetworkBudget.wait} when a wait took too long. */
export class WaitTimeout extends Error {
  /** Which limit was reached: that of this wait, or the whole budget. */
  readonly scope: "wait" | "total";

  /** Makes the error of one of the two limits. */
  constructor(scope: "wait" | "total") {
    super(`Cannot wait longer: the ${scope} limit is reached`);
    this.scope = scope;
  }
}

/** The time that one fetch may spend waiting, all its waits together. */
export interface NetworkBudget {
  /** Milliseconds waited so far. */
  readonly spentMs: number;
  /**
   * Waits for work of the network, at most `limitMs` and what is left of the
   * budget. Rejects with {@linkcode WaitTimeout}, or with the signal's reason
   * when the caller aborts; the work itself must then be stopped by the caller.
   */
  wait<T>(work: Promise<T>, limitMs?: number): Promise<T>;
}

/**
 * Makes a budget. Only the time within {@linkcode NetworkBudget.wait} counts,
 * so that verifying between two chunks takes nothing from a slow network, and
 * a server that drips a byte at a time still runs out.
 *
 * The stopwatch is monotonic and never compared with a time of day.
 */
export function createNetworkBudget(
  totalMs: number,
  signal?: AbortSignal,
): NetworkBudget {
  let spentMs = 0;
  // Timers may fire a moment early; over is over.
  let isOver = false;
  return {
    get spentMs() {
      return spentMs;
    },
    async wait<T>(work: Promise<T>, limitMs = Infinity): Promise<T> {
      // The work may fail after the wait was given up.
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

/** What closes does so at once; this only keeps a bug from hanging us. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Waits until it is closed, a second at most. Never rejects. */
export async function waitForClose(closing: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, CLOSE_TIMEOUT_MS);
  await Promise.race([closing.catch(() => {}), over.promise]);
  clearTimeout(timer);
}
