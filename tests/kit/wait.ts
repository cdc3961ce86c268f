/**
 * Waiting in tests: for what is expected, with one long limit, and never for a
 * time. No other test file calls a timer (`deno task check:tests`).
 *
 * @module
 */

import { assertEquals } from "@std/assert";

/** After this a test fails, whatever it waits for and however slow the machine. */
export const WAIT_LIMIT_MS = 120_000;
const POLL_MS = 10;

/** Gives timers, sockets and whatever else is ready their turn. */
export async function turns(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/**
 * Looks again and again until `look` answers something; that is returned. False,
 * null, undefined, 0 and "" mean not yet.
 *
 * @param what completes the sentence "never: …" of the failure.
 */
export async function waitUntil<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<Exclude<T, false | null | undefined | 0 | "">> {
  const startMs = performance.now();
  for (;;) {
    const found = await look();
    if (found) return found as Exclude<T, false | null | undefined | 0 | "">;
    if (performance.now() - startMs > WAIT_LIMIT_MS) {
      throw new Error(`never: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Tries again and again until nothing is thrown; what came of it. */
export async function retry<T>(work: () => T | Promise<T>): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() - startMs > WAIT_LIMIT_MS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Reads again and again until it equals what is expected; what was read. */
export async function waitForEqual<T>(
  read: () => T | Promise<T>,
  expected: T,
): Promise<T> {
  return await retry(async () => {
    const found = await read();
    assertEquals(found, expected);
    return found;
  });
}

/** What a promise settles to; fails when it does not settle. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`never: ${what}`)),
    WAIT_LIMIT_MS,
  );
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Counts how often timers got their turn. */
export function countTurns(): Disposable & { count: number } {
  const counter = {
    count: 0,
    [Symbol.dispose]: () => clearInterval(timer),
  };
  const timer = setInterval(() => counter.count++);
  return counter;
}

/** Does `work` again and again, with a pause between, until it is disposed of. */
export function repeatedly(everyMs: number, work: () => unknown): Disposable {
  const timer = setInterval(work, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
