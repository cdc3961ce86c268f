/** Waiting, but not for ever. @module */

/**
 * Resolves when a promise has settled, or when the time is over; never rejects.
 *
 * @example
 * ```ts
 * import { settleWithin } from "./settle_within.ts";
 *
 * await settleWithin(new Promise(() => {}), 1);
 * ```
 */
export async function settleWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([promise.catch(() => {}), over]);
  clearTimeout(timer);
}
