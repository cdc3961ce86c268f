/** Slices of long work, one a turn of the event loop. @module */

/**
 * Makes what long verifications await between slices. However many of them run,
 * only one goes on in a turn of the event loop: between two slices of a few
 * milliseconds everything else, such as a health check, is served.
 *
 * @example
 * ```ts
 * import { createBreather } from "./breather.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const yieldToEventLoop = createBreather();
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
export function createBreather(): () => Promise<void> {
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

/** Milliseconds of a request's work before others are let in. */
const SLICE_MS = 10;

/**
 * Makes what is awaited before each part of a request that has several. Before
 * the first part as well: many such requests may come in one turn of the event
 * loop, and must not have a whole slice each.
 */
export function createPause(
  yieldToEventLoop: () => Promise<void>,
): () => Promise<void> {
  let sliceBegan = -Infinity;
  return async () => {
    if (performance.now() - sliceBegan <= SLICE_MS) return;
    await yieldToEventLoop();
    sliceBegan = performance.now();
  };
}
