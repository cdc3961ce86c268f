/** Errors as problem details (RFC 9457). @module */

import { isSigError, type Issue, type JsonValue } from "./error.ts";
import { ERROR_CODES, type ErrorCode } from "./error_codes.ts";

/** An error as problem details; the context's members are at the top level. */
export interface Problem {
  /** The problem type: `urn:sig:problem:<code>`. */
  readonly type: string;
  /** The code as a short title. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** The error message. */
  readonly detail: string;
  /** The stable error code. */
  readonly code: ErrorCode;
  /** All faults, if there are several. */
  readonly errors?: readonly Issue[];
  /** Other details, such as the request id or the place of the fault. */
  readonly [member: string]: JsonValue | readonly Issue[] | undefined;
}

/**
 * Converts an error to problem details. Anything but a `SigError` becomes
 * `internal`, without its message, which may contain secrets.
 *
 * @example
 * ```ts
 * import { SigError, toProblem } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new SigError("key_not_found", {
 *   action: "verify",
 *   reason: "no such key",
 *   context: { line: 3, kid: "orgsign-2" },
 * });
 * assertEquals(toProblem(error), {
 *   type: "urn:sig:problem:key_not_found",
 *   title: "Key not found",
 *   status: 422,
 *   detail: "Cannot verify: no such key",
 *   code: "key_not_found",
 *   line: 3,
 *   kid: "orgsign-2",
 * });
 * assertEquals(toProblem(new Error("secret")).code, "internal");
 * ```
 */
export function toProblem(error: unknown): Problem {
  // An error of another version of this package may have an unknown code.
  const isKnown = isSigError(error) && Object.hasOwn(ERROR_CODES, error.code);
  const { code, context, message } = isKnown ? error : INTERNAL;
  return {
    // Context members come first, so that none can replace a standard member.
    ...context,
    type: `urn:sig:problem:${code}`,
    title: titleOf(code),
    status: ERROR_CODES[code].status,
    detail: message,
    code,
  };
}

const INTERNAL = {
  code: "internal",
  context: {},
  message: "Cannot go on: an internal error occurred",
} as const;

function titleOf(code: string): string {
  const words = code.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}
