/** What is wrong with a feed before its lines are looked at. @module */

import { SigError } from "@sig/core";

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
