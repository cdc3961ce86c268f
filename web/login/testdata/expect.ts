/** Asserting code and message together. */

import { type ErrorCode, isSigError, type SigError } from "@sig/core";
import { assert, assertRejects, assertStringIncludes } from "@std/assert";

/** What `fn` throws is a SigError of that code whose message says that. */
export async function expectSigError(
  fn: () => unknown,
  code: ErrorCode,
  says: string,
): Promise<SigError> {
  const error = await assertRejects(async () => await fn());
  if (!isSigError(error)) throw error;
  assert(error.code === code, `${error.code} (expected ${code}): ${error}`);
  assertStringIncludes(error.message, says);
  return error;
}
