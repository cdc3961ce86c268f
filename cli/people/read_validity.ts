/** A validity's flags, for all commands that name one. @module */

import { usageError } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";
import { type End, readDay } from "./read_day.ts";

/**
 * A flag's instant; a bare date is the whole day, as in lists. Undefined where
 * there is no such flag.
 */
export function readValidity(call: Call, end: End): string | undefined {
  const flag = `--${end.replace("_", "-")}`;
  const text = call.text(flag.slice(2));
  if (text === undefined) return undefined;
  const read = readDay(text, end);
  if ("instant" in read) return read.instant;
  throw usageError(`${flag} must be a date or an instant: ${read.why}`, {
    flag,
  });
}
