/**
 * Waits in tests for conditions, with a single long limit, and never for a
 * fixed time. No other test file may use a timer (`deno task check:tests`).
 *
 * @module
 */

import { assertEquals } from "@std/assert";

/**
 * A test fails after this time, whatever it waits for, even on a slow machine.
 */
export const WAIT_LIMIT_MS = 120_000;
const POLL_MS = 10;

/** Yields to the event loop, so that ready timers and sockets are processed. */
export async function turns(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** Runs all pending promise callbacks. */
export async function microtasks(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/**
 * Calls `condition` repeatedly until it returns a truthy value, and returns
 * that value.
 *
 * @param what completes the sentence "never: …" of the failure.
 */
export async function waitUntil<T>(
  what: string,
  condition: () => T | Promise<T>,
): Promise<Exclude<T, false | null | undefined | 0 | "">> {
  const startMs = performance.now();
  for (;;) {
    const found = await condition();
    if (found) return found as Exclude<T, false | null | undefined | 0 | "">;
    if (performance.now() - startMs > WAIT_LIMIT_MS) {
      throw new Error(`never: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Repeats `work` until it does not throw, and returns its result. */
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

/** Reads repeatedly until the value equals the expected one, and returns it. */
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

/** Returns what a promise resolves to; fails if it does not settle. */
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

/** Counts the turns of the event loop in which timers ran. */
export function countTurns(): Disposable & { count: number } {
  const counter = {
    count: 0,
    [Symbol.dispose]: () => clearInterval(timer),
  };
  const timer = setInterval(() => counter.count++);
  return counter;
}

/** Counts the calls of a `yieldToEventLoop`. */
export function countYields() {
  const yields = {
    count: 0,
    yieldToEventLoop(): Promise<void> {
      yields.count++;
      return Promise.resolve();
    },
  };
  return yields;
}

/** Repeats `work` at an interval until it is disposed of. */
export function repeatedly(everyMs: number, work: () => unknown): Disposable {
  const timer = setInterval(work, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
