/** The error of a command line that can't be meant. @module */

import { SigError } from "@sig/core";

/**
 * `invalid_request` with the flag that it is about and what to do next.
 *
 * @example
 * ```ts
 * import { usageError } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * const error = usageError("--ttl needs a value", { flag: "--ttl" });
 * assertEquals(error.message, "Cannot run: --ttl needs a value");
 * ```
 */
export function usageError(
  why: string,
  context: { readonly flag?: string; readonly hint?: string } = {},
): SigError {
  return new SigError("invalid_request", `Cannot run: ${why}`, { context });
}
