/**
 * Errors about published documents (docs/reference/command-line.md). @module
 */

import { type ErrorContext, isSigError, SigError } from "@sig/core";

/**
 * Returns whether an error means that a published document is faulty, not that
 * it could not be read (docs/reference/errors.md).
 */
export function isFault(error: unknown): error is SigError {
  return isSigError(error) &&
    (error.category === "invalid" || error.category === "conflict" ||
      error.code === "line_too_long");
}

/**
 * Adds the place in the feed to an error, and a common start to its message.
 */
export function located(error: SigError, place: ErrorContext): SigError {
  const { code, reason } = error;
  return new SigError(code, {
    action: "verify feed",
    reason,
    context: { ...error.context, ...place },
    cause: error,
  });
}

export function feedTooLarge(limit: number): SigError {
  return new SigError("feed_too_large", {
    action: "read feed",
    reason: `it is larger than ${limit} bytes`,
    context: { limit },
  });
}

/** Makes the fault of a line over the limit. `line` counts from 1. */
export function lineTooLong(line: number, limit: number): SigError {
  return new SigError("line_too_long", {
    action: "read feed",
    reason: `line ${line} is longer than ${limit} bytes`,
    context: { limit },
  });
}

export function incompleteLine(): SigError {
  return new SigError("incomplete_line", {
    action: "read feed line",
    reason: "the last line must end in LF",
    context: {
      hint: "The feed was cut off, or its issuer is writing: try again.",
    },
  });
}

/**
 * Returns whether a fault may be due to a key that was published after the
 * documents were read.
 */
export function lacksKey({ code }: { readonly code: string }): boolean {
  return code === "key_not_found" || code === "key_not_authorized";
}
