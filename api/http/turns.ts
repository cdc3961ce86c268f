/** Long work in turns, so that other requests are served between. @module */

/**
 * Makes the function that long work awaits between slices. However many run,
 * only one continues in a turn of the event loop: between two slices of a few
 * milliseconds everything else, such as a health check, is served.
 *
 * @example
 * ```ts
 * import { createTurns } from "./turns.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const yieldToEventLoop = createTurns();
 * const order: string[] = [];
 * const work = async (name: string) => {
 *   for (let i = 0; i < 2; i++) {
 *     await yieldToEventLoop();
 *     order.push(name);
 *   }
 * };
 * await Promise.all([work("a"), work("b")]);
 * assertEquals(order, ["a", "b", "a", "b"]);
 * ```
 */
export function createTurns(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let scheduled = false;
  const next = () => {
    const go = waiting.shift()!;
    if (waiting.length > 0) setTimeout(next, 0);
    else scheduled = false;
    go();
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (scheduled) return;
      scheduled = true;
      setTimeout(next, 0);
    });
}
