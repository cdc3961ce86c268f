/** Flags as lines of a help text. @module */

import type { FlagSpec } from "./flag_spec.ts";

/**
 * One line a flag, with what it does beside it.
 *
 * @example
 * ```ts
 * import { flagTable } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * const flags = [{ name: "addr", value: "HOST:PORT", help: "where to listen" }];
 * assertEquals(flagTable(flags), "  --addr HOST:PORT  where to listen");
 * ```
 */
export function flagTable(flags: readonly FlagSpec[]): string {
  return wordTable(flags.map(flagRow));
}

/** A flag as it is typed, and what it does with its notes behind. */
export function flagRow(flag: FlagSpec): readonly [string, string] {
  const value = flag.value === undefined ? "" : ` ${flag.value}`;
  const notes = [
    ...(flag.required ? ["required"] : []),
    ...(flag.repeat ? ["repeatable"] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join(", ")})` : "";
  return [`--${flag.name}${value}`, flag.help + note];
}

/** Words with what they mean beside them, in two columns. */
export function wordTable(
  rows: readonly (readonly [string, string])[],
): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
    .join("\n");
}
