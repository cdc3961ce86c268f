/** Dates of a validity: instants and whole days. @module */

import { parseTimestamp } from "@sig/core";
import { usageError } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";

/** Which end of a validity a cell is. */
export type End = "valid_from" | "valid_until";

const DAY_MS = 86_400_000;

/**
 * A cell as an instant: RFC 3339 UTC as it is, a bare date as the start of that
 * day, or, as an end, through the end of it (the next midnight), UTC. Every
 * other spelling is refused with what to write instead, since 03/04/2026 is
 * two days.
 *
 * @returns the instant, or why not.
 */
export function readDay(
  text: string,
  end: End,
): { readonly instant: string } | { readonly why: string } {
  if (parseTimestamp(text) !== undefined) return { instant: text };
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (day !== null) return wholeDay(text, end);
  return { why: `${whyNot(text)}; write a date as 2026-12-31` };
}

function wholeDay(text: string, end: End) {
  const start = `${text}T00:00:00Z`;
  if (parseTimestamp(start) === undefined) {
    return { why: "this day does not exist" };
  }
  if (end === "valid_from") return { instant: start };
  const next = new Date(Date.parse(start) + DAY_MS).toISOString();
  const instant = next.replace(".000Z", "Z");
  // The last day that RFC 3339 can write has no next midnight.
  if (parseTimestamp(instant) === undefined) {
    return { why: "the day after it can't be written" };
  }
  return { instant };
}

function whyNot(text: string): string {
  const parts = /^(\d{1,2})[./-](\d{1,2})[./-](\d{2}|\d{4})$/.exec(text);
  if (parts !== null) {
    return Number(parts[1]) <= 12 && Number(parts[2]) <= 12
      ? "it is ambiguous: day first or month first"
      : "it is not in the form YYYY-MM-DD";
  }
  if (/^\d{4,6}(\.\d+)?$/.test(text)) {
    return "it is a spreadsheet's day number: format the column as text";
  }
  if (/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(text)) {
    return "it needs seconds and UTC, as in 2026-12-31T09:00:00Z";
  }
  return "it is not a date";
}

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
