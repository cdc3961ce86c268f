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

/** The error of a feed over our limit. */
export function feedTooLarge(limit: number): SigError {
  return new SigError(
    "feed_too_large",
    `Cannot read feed: it is larger than ${limit} bytes`,
    { context: { limit } },
  );
}

/** The fault of a line over the limit; it is counted from 1. */
export function lineTooLong(line: number, limit: number): SigError {
  return new SigError(
    "line_too_long",
    `Cannot read feed: line ${line} is longer than ${limit} bytes`,
    { context: { limit } },
  );
}

/** The fault of a last line without its LF. */
export function incompleteLine(): SigError {
  return new SigError(
    "incomplete_line",
    "Cannot read feed line: the last line must end in LF",
    {
      context: {
        hint: "The feed was cut off, or its issuer is writing: try again.",
      },
    },
  );
}

/** Whether a fault may be a key that was added after the documents were read. */
export function lacksKey({ code }: { readonly code: string }): boolean {
  return code === "key_not_found" || code === "key_not_authorized";
}
