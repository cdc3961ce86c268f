/**
 * The times at which a subject meets requirements, for files that are read
 * later (docs/protocol.md §5).
 *
 * @module
 */

import { meets, type ParsedQuestion } from "./question.ts";
import type { RelationshipState } from "../event/types.ts";
import { countUntil, type EvaluationTime } from "../replay/effective_state.ts";
import type { RelationshipVersion } from "../replay/history.ts";
import type { FeedState } from "../replay/replay.ts";
import {
  compareInstants,
  type Instant,
  validInstant,
} from "../text/timestamp.ts";

/** Whole seconds since 1970, with both ends; infinite without a bound. */
export interface SecondsRange {
  /** The first second. */
  readonly first: number;
  /** The last second. */
  readonly last: number;
}

/**
 * Returns the whole seconds at which `check` allows: values of `at` for the
 * tense `then`, clock times for the tense `now` if no event is added. The
 * ranges are sorted; they neither overlap nor touch.
 */
export function allowedSeconds(
  { history }: FeedState,
  { requirements, subject }: Pick<ParsedQuestion, "requirements" | "subject">,
  { events, tense }: Pick<EvaluationTime, "events" | "tense">,
): readonly SecondsRange[] {
  const ranges: SecondsRange[] = [];
  for (const id of history.relationshipsOf(subject)) {
    const versions = history.versions.get(id)!;
    const known = versions.slice(0, countUntil(versions, events));
    if (known.length === 0) continue;
    const found: Iterable<InForce> = tense === "now"
      ? [{ state: known.at(-1)!.state }]
      : inForce(known);
    for (const { state, from, until } of found) {
      if (
        state.status === "revoked" || state.subject !== subject ||
        !requirements.every((each) => meets(state, each))
      ) continue;
      const { valid_from, valid_until } = state;
      const first = firstSecond(stricterBound(1, from, valid_from));
      const last = lastSecond(stricterBound(-1, until, valid_until));
      if (first <= last) ranges.push({ first, last });
    }
  }
  return mergeRanges(ranges);
}

/**
 * A version, and the time in which it is in force by the order of events: from
 * `from` (inclusive) to `until` (exclusive).
 */
interface InForce {
  readonly state: RelationshipState;
  readonly from?: Instant | undefined;
  readonly until?: Instant | undefined;
}

/**
 * Yields the versions by the rules of `at`: a version is in force from its
 * `issued_at` until the `issued_at` of any later version, or until a later
 * revoke that ends it earlier.
 */
function* inForce(
  versions: readonly RelationshipVersion[],
): Generator<InForce> {
  let until: Instant | undefined;
  for (const { endsEarlierFrom, issuedAt, state } of versions.toReversed()) {
    yield { state, from: issuedAt, until };
    const end = endsEarlierFrom ?? issuedAt;
    if (until === undefined || compareInstants(end, until) < 0) until = end;
  }
  // Before the first event: a start that was recorded later.
  const { state } = versions[0]!;
  if (state.valid_from !== null) yield { state, until };
}

/** Maximum number of versions that {@linkcode nextChangeMs} looks at. */
const MAX_VERSIONS = 100;

/**
 * Returns when an answer about the present may change without a further event,
 * in milliseconds since 1970 (exclusive): one of the subject's relationships
 * begins or ends. Returns `now` if the subject has more than 100 versions.
 */
export function nextChangeMs(
  { history }: FeedState,
  subject: string,
  now: Date,
): number {
  const nowMs = now.getTime();
  let next = Infinity;
  let count = 0;
  for (const id of history.relationshipsOf(subject)) {
    for (const { state } of history.versions.get(id)!) {
      if (++count > MAX_VERSIONS) return nowMs;
      for (const text of [state.valid_from, state.valid_until]) {
        if (text === null) continue;
        const { seconds, nanoseconds } = validInstant(text);
        const ms = seconds * 1000 + nanoseconds / 1_000_000;
        if (ms >= nowMs && ms < next) next = ms;
      }
    }
  }
  return next;
}

/** Returns the later (sign 1) or earlier (sign -1) of two optional bounds. */
function stricterBound(
  sign: 1 | -1,
  a: Instant | undefined,
  text: string | null,
) {
  const b = text === null ? undefined : validInstant(text);
  return a && (!b || sign * compareInstants(a, b) > 0) ? a : b;
}

function firstSecond(from: Instant | undefined): number {
  return from ? from.seconds + (from.nanoseconds > 0 ? 1 : 0) : -Infinity;
}

function lastSecond(until: Instant | undefined): number {
  return until ? until.seconds - (until.nanoseconds > 0 ? 0 : 1) : Infinity;
}

function mergeRanges(ranges: SecondsRange[]): readonly SecondsRange[] {
  ranges.sort((a, b) => a.first < b.first ? -1 : a.first > b.first ? 1 : 0);
  const found: SecondsRange[] = [];
  for (const { first, last } of ranges) {
    const before = found.at(-1);
    if (before === undefined || first > before.last + 1) {
      found.push({ first, last });
    } else if (last > before.last) {
      found[found.length - 1] = { first: before.first, last };
    }
  }
  return found;
}
