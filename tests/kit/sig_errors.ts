/** Asserts an error's code and message together. @module */

import { type ErrorCode, isSigError, type SigError } from "@sig/core";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";

/**
 * Asserts that the work fails with this code and a message that contains this
 * text.
 */
export async function expectSigError(
  work: Promise<unknown> | (() => unknown),
  code: ErrorCode,
  messageIncludes: string,
): Promise<SigError> {
  let thrown: unknown;
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    thrown = error;
  }
  assert(isSigError(thrown), `no SigError: ${thrown}`);
  assertEquals(thrown.code, code, thrown.message);
  assertStringIncludes(thrown.message, messageIncludes);
  return thrown;
}

/** Returns the SigError that a function throws; fails without one. */
export function catchSigError(run: () => unknown): SigError {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  assert(isSigError(thrown), `no SigError: ${thrown}`);
  return thrown;
}

/**
 * Asserts that a function throws a SigError with this code and this message.
 */
export function assertSigError(
  run: () => unknown,
  code: ErrorCode,
  message: string,
): SigError {
  const error = catchSigError(run);
  assertEquals(
    { code: error.code, message: error.message },
    { code, message },
  );
  return error;
}
