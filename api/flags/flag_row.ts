/** A flag as a row of a help text. @module */

import type { FlagSpec } from "./flag_spec.ts";

/**
 * A flag as it is typed, and what it does with its notes behind.
 *
 * @example
 * ```ts
 * import { flagRow, twoColumns } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * const flag = { name: "addr", value: "HOST:PORT", help: "where to listen" };
 * assertEquals(twoColumns([flagRow(flag)]), "  --addr HOST:PORT  where to listen");
 * ```
 */
export function flagRow(flag: FlagSpec): readonly [string, string] {
  const value = flag.value === undefined ? "" : ` ${flag.value}`;
  const notes = [
    ...(flag.required ? ["required"] : []),
    ...(flag.repeat ? ["repeatable"] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join(", ")})` : "";
  return [`--${flag.name}${value}`, flag.help + note];
}
