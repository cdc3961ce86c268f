/** The time of a question: `at` and `as_of` (docs/protocol.md §5). @module */

import { SigError } from "../errors/error.ts";
import { isSequence } from "../event/event.ts";
import { quote } from "../text/escape_invisible.ts";
import type { FeedState } from "../replay/replay.ts";
import type { EvaluationTime } from "../replay/effective_state.ts";
import { type Instant, instantOf, parseTimestamp } from "../text/timestamp.ts";

/**
 * A timestamp with its spelling and its instant. Only {@linkcode
 * Timepoint.parse} creates one, so parsed JSON is never mistaken for it.
 */
export class Timepoint {
  /** The original spelling: RFC 3339 UTC. */
  readonly text: string;
  /** The instant. */
  readonly instant: Instant;

  private constructor(text: string, instant: Instant) {
    this.text = text;
    this.instant = instant;
  }

  /** Parses a timestamp (docs/protocol.md §3); undefined for other texts. */
  static parse(text: string): Timepoint | undefined {
    const instant = parseTimestamp(text);
    return instant && new Timepoint(text, instant);
  }
}

/** The time of a question; parsed values are used unchanged. */
export interface AskedTime {
  /** Asks what was true at this time: RFC 3339 UTC. */
  readonly at?: string | Timepoint | undefined;
  /** Asks what was known then: a sequence number, or RFC 3339 UTC. */
  readonly asOf?: number | string | Timepoint | undefined;
}

/** The time of a question, with a clock time. */
export interface TimeQuestion extends AskedTime {
  /** The clock time: applies where neither `at` nor `asOf` is given. */
  readonly now: Date;
}

/** The parsed time of a question. */
export interface ParsedTime {
  /** Asks what was true at this time. */
  readonly at: Timepoint | undefined;
  /** Asks what was known then: a sequence number, or a time. */
  readonly asOf: number | Timepoint | undefined;
}

/**
 * Parses `as_of`, then `at`. This needs no feed.
 *
 * @example
 * ```ts
 * import { parseTime } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const { at, asOf } = parseTime({ at: "2026-01-31T09:00:00Z", asOf: "3" });
 * assertEquals(at?.text, "2026-01-31T09:00:00Z");
 * assertEquals(asOf, 3);
 * ```
 *
 * @throws {SigError} `invalid_request` for a malformed time or sequence.
 */
export function parseTime({ at, asOf }: AskedTime): ParsedTime {
  const known = asOf === undefined ? undefined : parseAsOf(asOf);
  return {
    at: at === undefined ? undefined : timepoint("at", at),
    asOf: known,
  };
}

function parseAsOf(asOf: number | string | Timepoint): number | Timepoint {
  const sequence = typeof asOf === "string" && /^[0-9]+$/.test(asOf)
    ? sequenceOfDigits(asOf)
    : asOf;
  if (typeof sequence !== "number") return timepoint("as_of", sequence);
  if (isSequence(sequence)) return sequence;
  throw new SigError("invalid_request", {
    action: "use as_of",
    reason: "a sequence must be an integer from 1 to 2^53-1",
    context: { pointer: "/as_of" },
  });
}

/**
 * Converts the digits of a sequence. No feed has more than 2^53-1 events, so
 * that every larger sequence is beyond the feed, as 2^53-1 is.
 */
export function sequenceOfDigits(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

/** The part of a state for times and pages; its history may be longer. */
export type KnownState = Omit<FeedState, "by_relationship_id">;

/**
 * Resolves `at` and `as_of` to an instant and a number of events.
 *
 * @throws {SigError} `consistency_unavailable` for a sequence beyond the feed.
 */
export function resolveTime(
  state: KnownState,
  { at, asOf }: ParsedTime,
  now: Date,
): EvaluationTime {
  const events = eventsKnown(state, asOf);
  if (at !== undefined) return { events, instant: at.instant, tense: "then" };
  const instant = asOf === undefined
    ? instantOf(now)
    : typeof asOf === "number"
    ? state.history.issuedAt(asOf)
    : asOf.instant;
  return { events, instant, tense: "now" };
}

function eventsKnown(
  state: KnownState,
  asOf: number | Timepoint | undefined,
): number {
  if (asOf === undefined) return state.last_sequence;
  if (typeof asOf !== "number") {
    // The history may have grown since the state was taken.
    return Math.min(state.history.prefixAt(asOf.instant), state.last_sequence);
  }
  if (asOf <= state.last_sequence) return asOf;
  throw new SigError("consistency_unavailable", {
    action: `judge as of sequence ${asOf}`,
    reason: `the feed ends at ${state.last_sequence}`,
    context: { sequence: asOf, last_sequence: state.last_sequence },
  });
}

/** Returns a time in the form of the question. */
export function timeAsAsked<T extends number | Timepoint>(
  time: T | undefined,
): Exclude<T, Timepoint> | string | null {
  return time instanceof Timepoint
    ? time.text
    : (time ?? null) as Exclude<T, Timepoint> | null;
}

function timepoint(name: string, time: string | Timepoint): Timepoint {
  if (time instanceof Timepoint) return time;
  const parsed = Timepoint.parse(time);
  if (parsed !== undefined) return parsed;
  throw new SigError("invalid_request", {
    action: `use ${name} ${quote(time)}`,
    reason: "it must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z",
    context: { pointer: `/${name}` },
  });
}
