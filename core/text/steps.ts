/** Long work in small steps, so that others can be served between them. @module */

/**
 * Work that yields after a fraction of a millisecond each, and returns its
 * result. Nothing is awaited: the caller decides when other work has its turn.
 */
export type Steps<T> = Generator<void, T, void>;

/** What a step may look at, counted roughly: about a tenth of a millisecond. */
export const STEP_UNITS = 256;

/** Steps of one slice of {@linkcode runInSlices}: a few milliseconds. */
const STEPS_PER_SLICE = 32;

/** Runs work to its end at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Runs work in slices of a few milliseconds. What ends within its first step is
 * answered at once, without a promise; all else continues after
 * `yieldToEventLoop`, also its second step: many questions that come in one turn of the event loop must
 * not have a whole slice each.
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
