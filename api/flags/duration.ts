/** Durations on the command line: `<n>` with `ms`, `s`, `m`, `h` or `d`. @module */

import { usageError } from "./usage_error.ts";

const MILLISECONDS: { readonly [unit: string]: number } = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * A duration in milliseconds, undefined where none is given.
 *
 * @param flag The flag that it is the value of, for the error.
 *
 * @example
 * ```ts
 * import { parseDuration } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseDuration("--max-age", "5m"), 300_000);
 * ```
 *
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function parseDuration(
  flag: string,
  text: string | undefined,
): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  if (match) return Number(match[1]) * MILLISECONDS[match[2]!]!;
  throw usageError(`${flag} must be a number with ms, s, m, h or d`, {
    flag,
    hint: "For example: 5m.",
  });
}
