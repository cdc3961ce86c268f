/**
 * Splits long work into small steps, so that other requests are served between
 * them.
 *
 * @module
 */

/**
 * Work that yields after each fraction of a millisecond and returns its result.
 * It is synchronous: the caller decides when other work runs.
 */
export type Steps<T> = Generator<void, T, void>;

/** Units of work in one step, which takes about a tenth of a millisecond. */
export const STEP_UNITS = 256;

/** Steps in one slice of {@linkcode runInSlices}: a few milliseconds. */
const STEPS_PER_SLICE = 32;

/** Runs work to its end without interruption. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Runs work in slices of a few milliseconds. Work that ends within its first
 * step returns its result immediately, without a promise. Other work continues
 * after `yieldToEventLoop`, even for its second step: many questions that
 * arrive in one turn of the event loop must not take a whole slice each.
 *
 * @example
 * ```ts
 * import { runInSlices, type Steps } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * function* count(to: number): Steps<number> {
 *   for (let i = 0; i < to; i++) yield;
 *   return to;
 * }
 * let yields = 0;
 * const yieldToEventLoop = () => Promise.resolve(void yields++);
 * assertEquals(runInSlices(count(0), yieldToEventLoop), 0);
 * assertEquals(await runInSlices(count(100), yieldToEventLoop), 100);
 * assertEquals(yields, 4);
 * ```
 */
export function runInSlices<T>(
  steps: Steps<T>,
  yieldToEventLoop: () => Promise<void>,
): T | Promise<T> {
  const first = steps.next();
  return first.done ? first.value : finishInSlices(steps, yieldToEventLoop);
}

async function finishInSlices<T>(
  steps: Steps<T>,
  yieldToEventLoop: () => Promise<void>,
): Promise<T> {
  for (;;) {
    await yieldToEventLoop();
    for (let i = 0; i < STEPS_PER_SLICE; i++) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }
}
