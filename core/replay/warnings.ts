/** The warnings of an answer (docs/reference/errors.md). @module */

import type { FeedHistory } from "./history.ts";
import type { Warning } from "../event/types.ts";

/** Maximum number of warnings in an answer about a subject. */
export const MAX_ANSWER_WARNINGS = 10;

/**
 * Returns the warnings that concern a subject or the feed as a whole: at most
 * 10, of which the last may be `warnings_left_out` with the number of the rest.
 * Warnings about other subjects are only in the report on the feed.
 *
 * @example
 * ```ts
 * import { replay, warningsAbout } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const { state, warnings } = replay([]);
 * const subject = "did:web:alice.example";
 * assertEquals(warningsAbout(subject, warnings, state.history), []);
 * ```
 */
export function warningsAbout(
  subject: string,
  warnings: readonly Warning[],
  history: FeedHistory,
): readonly Warning[] {
  // A new array, because frozen arrays are slow to serialize in V8.
  if (warnings.length === 0) return [];
  const concerned = warnings.filter(({ code, sequence }) =>
    code !== "warnings_left_out" &&
    (sequence === undefined ||
      history.subjectsWarnedAt(sequence).includes(subject))
  );
  // These always count as concerning the feed, because their subjects are not
  // known.
  const uncounted = warnings.filter(({ code }) => code === "warnings_left_out");
  const maxShown = MAX_ANSWER_WARNINGS - uncounted.length;
  if (concerned.length <= maxShown) return [...concerned, ...uncounted];
  const shown = concerned.slice(0, maxShown - 1);
  const hidden = warningsLeftOut(
    `${concerned.length - shown.length} more about the subject or the feed`,
  );
  return [...shown, hidden, ...uncounted];
}

/** Creates the warning that other warnings were left out. */
export function warningsLeftOut(what: string): Warning {
  return { code: "warnings_left_out", detail: `left out: ${what}` };
}

/** Creates the warning that events are void (docs/protocol.md §14.2). */
export function eventVoid(count: number): Warning {
  const [events, were, their] = count === 1
    ? ["1 event", "was", "its"]
    : [`${count} events`, "were", "their"];
  return {
    code: "event_void",
    detail: `${events} ${were} not applied: ${their} key had ended`,
  };
}
