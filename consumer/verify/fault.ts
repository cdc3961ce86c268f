/** Which errors are about what was published (docs/reference/command-line.md). @module */

import { type ErrorContext, isSigError, SigError } from "@sig/core";

/**
 * Whether an error says that what was published is wrong, and not that it could
 * not be read (docs/reference/errors.md).
 */
export function isFault(error: unknown): error is SigError {
  return isSigError(error) &&
    (error.category === "invalid" || error.category === "conflict" ||
      error.code === "line_too_long");
}

/** The error with its place in the feed, and one beginning for all messages. */
export function located(error: SigError, place: ErrorContext): SigError {
  const { code, reason } = error;
  return new SigError(code, { action: "verify feed", reason }, {
    context: { ...error.context, ...place },
    cause: error,
  });
}
