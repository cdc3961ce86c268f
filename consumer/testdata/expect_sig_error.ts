/** Asserting code and message together. @module */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type ErrorCode, isSigError, type SigError } from "@sig/core";

/** Asserts that the work fails with this code and a message that contains this. */
export async function expectSigError(
  work: () => unknown,
  code: ErrorCode,
  messageIncludes: string,
): Promise<SigError> {
  let thrown: unknown;
  try {
    await work();
  } catch (error) {
    thrown = error;
  }
  assert(isSigError(thrown), `no SigError: ${thrown}`);
  assertEquals(thrown.code, code, thrown.message);
  assertStringIncludes(thrown.message, messageIncludes);
  return thrown;
}
