/** Events with faults, and how these are reported. @module */

import { findEventIssues, type ValidateEventOptions } from "../event/event.ts";
import type { SigEvent } from "../event/types.ts";

/** Members that are given other values. */
export type Changes = Readonly<Record<string, unknown>>;

/** A member that is taken away. */
export const ABSENT = Symbol("absent");

/** The event with other members. */
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

/** The faults as `pointer code`. */
export function faults(
  value: unknown,
  options?: ValidateEventOptions,
): string[] {
  return findEventIssues(value, options).map(({ pointer, code }) =>
    `${pointer} ${code}`
  );
}
