/** What those are told for whom there is no room. @module */

import { SigError } from "@sig/core";

/** How soon the same question is worth another try. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Makes the refusal (503 with `Retry-After`); nothing of the request was done.
 *
 * @param why As in "Cannot answer: too many requests are being answered".
 */
export function overloaded(why: string): SigError {
  return new SigError("overloaded", `Cannot answer: ${why}`, {
    context: {
      retry_after_seconds: RETRY_AFTER_SECONDS,
      hint: "Ask again in a moment.",
    },
  });
}
