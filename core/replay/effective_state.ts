/** The status of relationships at an instant (docs/protocol.md §5). @module */

import {
  countFirst,
  type FeedHistory,
  type RelationshipVersion,
} from "./history.ts";
import {
  compareInstants,
  type Instant,
  validInstant,
} from "../text/timestamp.ts";
import type { RelationshipState } from "../event/types.ts";
import { validityAt } from "../event/validity.ts";

/** The effective statuses. */
export const EFFECTIVE_STATUSES = [
  "active",
  "revoked",
  "expired",
  "not_yet_valid",
] as const;

/** The status of a relationship at an instant; computed, never stored. */
export type EffectiveStatus = (typeof EFFECTIVE_STATUSES)[number];

/** A relationship at an instant, with its status. */
export interface EffectiveState {
  /** The version in force; the first version if none is in force yet. */
  readonly state: RelationshipState;
  /** The effective status. */
  readonly status: EffectiveStatus;
  /** Whether that version had been issued, or had begun, by then. */
  readonly known: boolean;
}

/** The instant of an evaluation, and how to evaluate it. */
export interface EvaluationTime {
  /** The evaluated instant. */
  readonly instant: Instant;
  /**
   * `now`: by the last event of each relationship. `then`: what was true at the
   * instant.
   */
  readonly tense: "now" | "then";
  /** Sequence of the last event that is taken into account. */
  readonly events: number;
}

/**
 * Returns the effective state of a relationship; undefined if the first
 * `events` events do not contain it.
 */
export function effectiveStateAt(
  history: FeedHistory,
  relationshipId: string,
  time: EvaluationTime,
): EffectiveState | undefined {
  const versions = history.versions.get(relationshipId);
  if (versions === undefined) return undefined;
  const count = countUntil(versions, time.events);
  if (count === 0) return undefined;
  return time.tense === "now"
    ? effectiveNow(versions[count - 1]!, time.instant)
    : effectiveThen(versions, count, time.instant);
}

/** Returns the number of versions in the first `events` events. */
export function countUntil(
  versions: readonly RelationshipVersion[],
  events: number,
): number {
  const isIn = (at: number) => versions[at]!.state.last_sequence <= events;
  // Usually all versions count.
  const { length } = versions;
  return isIn(length - 1) ? length : countFirst(length, isIn);
}

/** Evaluates the last version. A revoke takes effect as soon as it is read. */
function effectiveNow(
  { state }: RelationshipVersion,
  instant: Instant,
): EffectiveState {
  const status = state.status === "revoked"
    ? "revoked"
    : validityAt(state, instant);
  return { state, status, known: true };
}

/** Evaluates the first `count` versions without a copy of so many. */
function effectiveThen(
  versions: readonly RelationshipVersion[],
  count: number,
  instant: Instant,
): EffectiveState {
  // The last version that had been issued by then.
  let i = count - 1;
  while (i >= 0 && compareInstants(versions[i]!.issuedAt, instant) > 0) i--;
  const revoke = findRevoke(versions, i + 1, count, instant);
  if (i < 0) return beforeFirst(versions[0]!, instant, revoke);
  const { state } = versions[i]!;
  if (state.status === "revoked") {
    return { state, status: "revoked", known: true };
  }
  if (revoke) return ended(revoke, state);
  return { state, status: validityAt(state, instant), known: true };
}

/** Returns the first revoke in a range that ends earlier versions by then. */
function findRevoke(
  versions: readonly RelationshipVersion[],
  from: number,
  to: number,
  instant: Instant,
): RelationshipVersion | undefined {
  for (let i = from; i < to; i++) {
    const { endsEarlierFrom } = versions[i]!;
    if (
      endsEarlierFrom !== undefined &&
      compareInstants(endsEarlierFrom, instant) <= 0
    ) return versions[i];
  }
  return undefined;
}

/**
 * Evaluates an instant before the first version, which may have begun before it
 * was recorded.
 */
function beforeFirst(
  { state }: RelationshipVersion,
  instant: Instant,
  revoke: RelationshipVersion | undefined,
): EffectiveState {
  const { valid_from: from } = state;
  const begun = from !== null &&
    compareInstants(validInstant(from), instant) <= 0;
  if (!begun) return { state, status: "not_yet_valid", known: false };
  if (revoke) return ended(revoke, state);
  return { state, status: validityAt(state, instant), known: true };
}

/** Returns a version with the members of the revoke that ended it. */
function ended(
  revoke: RelationshipVersion,
  state: RelationshipState,
): EffectiveState {
  const { revoked_reason_code, revoked_effective_at } = revoke.state;
  return {
    state: {
      ...state,
      status: "revoked",
      revoked_reason_code: revoked_reason_code!,
      revoked_effective_at: revoked_effective_at!,
      last_sequence: revoke.state.last_sequence,
    },
    status: "revoked",
    known: true,
  };
}
