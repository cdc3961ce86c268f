/** Waiting, but not for ever. @module */

/**
 * Waits until a promise has settled or the time is over, and tells whether it
 * has settled; never rejects.
 *
 * @example
 * ```ts
 * import { settleWithin } from "./settle_within.ts";
 * import { assert } from "@std/assert";
 *
 * assert(await settleWithin(Promise.resolve(), 1_000));
 * assert(!await settleWithin(new Promise(() => {}), 1));
 * ```
 */
export async function settleWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
): Promise<boolean> {
  const settled = promise.then(() => true, () => true);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const isSettled = await Promise.race([settled, over]);
  clearTimeout(timer);
  return isSettled;
}
