/** Asserting an error's code and message together. @module */

import { assert, assertEquals } from "@std/assert";
import { isSigError, type SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";

/** Runs and returns the SigError that is thrown, or fails. */
export function catchSigError(run: () => unknown): SigError {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  assert(isSigError(thrown), `not a SigError: ${String(thrown)}`);
  return thrown;
}

/** Asserts that running throws a SigError with this code and message. */
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
