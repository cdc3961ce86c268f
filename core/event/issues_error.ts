/** The error of a value with faults. @module */

import { type Issue, SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";

/** Creates the error of some faults (default code: that of the first). */
export function issuesError(
  what: string,
  issues: readonly Issue[],
  code?: ErrorCode,
): SigError {
  const [first, ...more] = issues;
  if (first === undefined) throw new RangeError("Cannot report no issue");
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  const place = first.pointer === "" ? "" : `${first.pointer} `;
  return new SigError(
    code ?? first.code,
    {
      action: `accept ${what}`,
      reason: `${place}${first.detail}${others}`,
      context: {
        pointer: first.pointer,
        ...(more.length === 0 && !code ? {} : { errors: issues }),
      },
    },
  );
}
