/** Events with faults, and the reports of these. @module */

import { findEventIssues, type ValidateEventOptions } from "../event/event.ts";
import type { SigEvent } from "../event/types.ts";

/** Members to replace. */
export type Changes = Readonly<Record<string, unknown>>;

/** The value of a member to remove. */
export const ABSENT = Symbol("absent");

/** Returns an event with some members replaced or removed. */
export function changed(
  event: SigEvent,
  changes: Changes,
): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...event };
  for (const [name, value] of Object.entries(changes)) {
    if (value === ABSENT) delete copy[name];
    else copy[name] = value;
  }
  return copy;
}

/** Returns the faults as `pointer code`. */
export function faults(
  value: unknown,
  options?: ValidateEventOptions,
): string[] {
  return findEventIssues(value, options).map(({ pointer, code }) =>
    `${pointer} ${code}`
  );
}
