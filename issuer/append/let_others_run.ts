/** Turns of the event loop between the parts of long work. @module */

/** Lines that are signed or verified before anything else may run: 0.1 s. */
const LINES_AT_ONCE = 500;

/**
 * Lets timers, signals and requests in from time to time: signatures are made
 * and verified without ever waiting, and Ctrl-C would count only at the end.
 *
 * @param done How many lines are done.
 */
export async function letOthersRun(done: number): Promise<void> {
  if (done % LINES_AT_ONCE > 0 || done === 0) return;
  await new Promise((resolve) => setTimeout(resolve));
}
