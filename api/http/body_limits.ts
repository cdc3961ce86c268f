/** How much a body may take, and what is said of one that takes more. @module */

import { SigError } from "@sig/core";

/** How much a body may take. */
export interface BodyLimits {
  /** Bytes at most. */
  readonly maxBytes: number;
  /** Milliseconds until the last byte must be there. */
  readonly timeoutMs: number;
  /**
   * Told of bytes before they are held, where they are many; may throw to refuse
   * them.
   */
  readonly reserve: (bytes: number) => void;
  /**
   * Told that the body is on the way, unless it is there at once; what it
   * returns, that it has come or never will. May throw to refuse to wait.
   */
  readonly awaitBody: () => () => void;
}

/**
 * Announced lengths up to this one are believed; also the first buffer. They are
 * not counted in bytes: as many bodies as may be on the way are little.
 */
export const SMALL_BYTES = 16 * 1024;

/** Turns of the microtask queue that what has come already takes at most. */
const TURNS = 8;

/**
 * What a promise gives, if that has come already: it is there in a few turns of
 * the microtask queue, and a timer would cost more. Undefined for one that has
 * yet to come, and for one that fails.
 */
export async function atOnce<T>(promise: Promise<T>): Promise<T | undefined> {
  let given: T | undefined;
  promise.then((value) => given = value, () => {});
  for (let turn = 0; given === undefined && turn < TURNS; turn++) await turn;
  return given;
}

/** A client that goes away is no failure of ours. */
export async function interrupted<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new SigError(
      "invalid_request",
      "Cannot read body: it broke off",
      { cause },
    );
  }
}

export function tooLarge(limit: number): SigError {
  return new SigError(
    "body_too_large",
    `Cannot read body: it is larger than ${limit} bytes`,
    { context: { limit } },
  );
}

export function timedOut(timeoutMs: number): SigError {
  return new SigError(
    "request_timeout",
    `Cannot read body: it did not come within ${timeoutMs / 1000} s`,
    { context: { limit: timeoutMs } },
  );
}
