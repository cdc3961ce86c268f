/** The error of a store that can't be asked. @module */

import { isSigError, SigError } from "@sig/core";

/**
 * `store_unavailable`. The message is ours; the cause is for the server's own
 * log, and the store's own text is never shown.
 */
export function storeUnavailable(
  why: string,
  cause?: unknown,
  hint = "Try again in a moment.",
): SigError {
  if (isSigError(cause, "store_unavailable")) return cause;
  return new SigError(
    "store_unavailable",
    `Cannot use challenge store: ${why}`,
    {
      context: { hint },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
