/** `at` and `as_of`: which time a question is about (PROTOCOL §5). @module */

import { SigError } from "../errors/error.ts";
import { isSequence } from "../event/event.ts";
import { quote } from "../text/quote.ts";
import type { FeedState } from "../replay/replay.ts";
import type { Moment } from "../replay/standing.ts";
import { type Instant, instantOf, parseTimestamp } from "../text/timestamp.ts";

/** The time that a question is about. */
export interface TimeQuestion {
  /** What was true then: RFC 3339 UTC. */
  readonly at?: string | undefined;
  /** What was known then: a sequence number, or RFC 3339 UTC. */
  readonly asOf?: number | string | undefined;
  /** The clock: the time that is meant where neither is given. */
  readonly now: Date;
}

/**
 * Turns `at` and `as_of` into an instant and a number of events.
 *
 * @throws {SigError} `invalid_request` for a malformed time or sequence,
 * `consistency_unavailable` for a sequence beyond the feed.
 */
export function resolveMoment(state: FeedState, time: TimeQuestion): Moment {
  const { events, instant: asOf } = resolveAsOf(state, time.asOf);
  if (time.at !== undefined) {
    return { instant: timestamp("at", time.at), tense: "then", events };
  }
  return { instant: asOf ?? instantOf(time.now), tense: "now", events };
}

function resolveAsOf(
  state: FeedState,
  asOf: number | string | undefined,
): { readonly events: number; readonly instant?: Instant } {
  if (asOf === undefined) return { events: state.last_sequence };
  const sequence = typeof asOf === "string" && isDigits(asOf)
    ? Number(asOf)
    : asOf;
  if (typeof sequence === "string") {
    const instant = timestamp("as_of", sequence);
    // The history may have grown since the state was taken.
    const events = Math.min(
      state.history.prefixAt(instant),
      state.last_sequence,
    );
    return { events, instant };
  }
  if (!isSequence(sequence)) {
    throw new SigError(
      "invalid_request",
      "Cannot judge as_of: a sequence must be an integer from 1 to 2^53-1",
      { context: { pointer: "/as_of" } },
    );
  }
  if (sequence > state.last_sequence) {
    throw new SigError(
      "consistency_unavailable",
      `Cannot judge as of sequence ${sequence}: the feed ends at ${state.last_sequence}`,
      {
        context: { sequence, last_sequence: state.last_sequence },
      },
    );
  }
  return { events: sequence, instant: state.history.issuedAt(sequence) };
}

/** Whether an `as_of` text means a sequence: digits only. */
export function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text);
}

function timestamp(name: string, text: string): Instant {
  const instant = parseTimestamp(text);
  if (instant !== undefined) return instant;
  throw new SigError(
    "invalid_request",
    `Cannot judge ${name} ${
      quote(text)
    }: it must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z`,
    { context: { pointer: `/${name}` } },
  );
}
