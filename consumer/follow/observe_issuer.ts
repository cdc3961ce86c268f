/** A state that is young enough and reaches far enough (PROTOCOL §6). @module */

import {
  type Continuity,
  formatInstant,
  type Freshness,
  instantOf,
  isSigError,
  type ParsedTime,
  SigError,
  type Warning,
} from "@sig/core";
import { answerable, type Observation } from "./issuer_record.ts";
import type { FollowedIssuer } from "./followed_issuer.ts";
import type { RefreshOutcome } from "./refresh_issuer.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";

/** What an answer has to rest upon. */
export interface ObserveOptions {
  /**
   * How old the state may be, in milliseconds, when the question is asked. Only
   * tightens the consumer's own `maxAge`; 0 asks the issuer now.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * A sequence that the state must have reached, for instance that of an append
   * that the asker has just seen acknowledged.
   */
  readonly minSequence?: number | undefined;
  /**
   * The time of the past that the state will be asked about. Needed only where a
   * store has the state: then no more is read than this.
   */
  readonly asOf?: ParsedTime["asOf"];
  /**
   * The only subjects that the state will be asked about; all unless told. As
   * with `asOf`: where a store has the state, no more is read than this.
   */
  readonly subjects?: readonly string[] | undefined;
  /**
   * Does the work of asking the issuer, whose DID it is told; not called while
   * what is known is enough. For those who bound how many wait for one issuer:
   * it may refuse by throwing. At once unless told.
   */
  readonly waitFor?: WaitFor | undefined;
}

/** Does work that waits for an issuer (its DID), or throws. */
export type WaitFor = <T>(issuer: string, work: () => Promise<T>) => Promise<T>;

/** What {@linkcode ObserveOptions.waitFor} is unless told. */
export const atOnce: WaitFor = (_issuer, work) => work();

/** A verified issuer, and how far it can be relied upon. */
export interface ObservedIssuer {
  /** Everything that was verified. */
  readonly verified: VerifiedIssuer;
  /** When fetching it began. */
  readonly observedAt: Date;
  /** The same, as answers say it. */
  readonly freshness: Freshness;
  /**
   * `first_seen` in the first observation of this process, then `consistent`:
   * a later fetch confirmed what is remembered.
   */
  readonly continuity: Continuity;
  /** What is odd; `history_was_inconsistent` once it was. */
  readonly warnings: readonly Warning[];
}

/** {@linkcode ObserveOptions}, checked and complete. */
export interface Bounds {
  /** 0 or more; `Infinity` for any age. */
  readonly maxAgeMs: number;
  /** 0 for any. */
  readonly minSequence: number;
}

/**
 * Checks what a question asks for, within what the consumer allows.
 *
 * @throws {SigError} `invalid_request`
 */
export function readBounds(
  { maxAgeMs, minSequence = 0 }: ObserveOptions,
  ownMaxAgeMs: number,
): Bounds {
  if (maxAgeMs !== undefined && !(maxAgeMs >= 0)) {
    throw new SigError(
      "invalid_request",
      "Cannot answer: max_age_seconds must be a number, 0 or more",
      { context: { pointer: "/max_age_seconds" } },
    );
  }
  if (!(Number.isSafeInteger(minSequence) && minSequence >= 0)) {
    throw new SigError(
      "invalid_request",
      "Cannot answer: min_sequence must be an integer from 0 to 2^53-1",
      { context: { pointer: "/min_sequence" } },
    );
  }
  return { maxAgeMs: Math.min(maxAgeMs ?? Infinity, ownMaxAgeMs), minSequence };
}

/** What is known of an issuer, if that is within the bounds. */
export function observedWithin(
  { record }: FollowedIssuer,
  { maxAgeMs, minSequence }: Bounds,
  now: Date,
): Observation | undefined {
  const known = answerable(record);
  return known !== undefined && lastSequence(known) >= minSequence &&
      isYoungEnough(known.observedAt, now, maxAgeMs)
    ? known
    : undefined;
}

/**
 * What is known of an issuer, refreshed if the bounds ask for it.
 *
 * @throws {SigError} `feed_stale`, `consistency_unavailable`, and why the
 * refresh failed.
 */
export async function observeIssuer(
  issuer: FollowedIssuer,
  bounds: Bounds,
  at: Date,
  waitFor: WaitFor = atOnce,
): Promise<Observation> {
  const within = observedWithin(issuer, bounds, at);
  if (within !== undefined) return within;
  return await waitFor(
    issuer.location.expectedIssuer,
    () => refreshWithin(issuer, bounds, at),
  );
}

async function refreshWithin(
  issuer: FollowedIssuer,
  { maxAgeMs, minSequence }: Bounds,
  at: Date,
): Promise<Observation> {
  const known = answerable(issuer.record);
  const isYoung = known !== undefined &&
    isYoungEnough(known.observedAt, at, maxAgeMs);
  const reaches = lastSequence(known) >= minSequence;
  const { runningSince } = issuer.refreshes;
  // What began before the question may have missed the event it is about.
  const mayShare = runningSince !== undefined && reaches &&
    isYoungEnough(runningSince, at, maxAgeMs);
  const outcome = await outcomeOf(
    mayShare ? issuer.refreshes.current() : issuer.refreshes.next(),
  );
  if (outcome.observation === undefined) {
    const isStale = known !== undefined && !isYoung && maxAgeMs > 0 &&
      isSigError(outcome.error) && outcome.error.category === "unavailable";
    throw isStale ? feedStale(known, maxAgeMs, outcome.error) : outcome.error;
  }
  if (lastSequence(outcome.observation) < minSequence) {
    throw notReached(minSequence, lastSequence(outcome.observation));
  }
  return outcome.observation;
}

/** Who gave up waiting has an older state no less than who saw it fail. */
async function outcomeOf(
  work: Promise<RefreshOutcome>,
): Promise<RefreshOutcome> {
  try {
    return await work;
  } catch (error) {
    return { error, report: undefined };
  }
}

/**
 * How old an observation was when the question was asked, as answers say it:
 * what `maxAgeMs` is about too. The time that a fetch for this question takes
 * makes nothing stale; `evaluated_at` - `observed_at` tells it.
 */
export function freshnessOf(
  { observedAt, observedAtText }: Observation,
  askedAt: Date,
  maxAgeMs: number,
): Freshness {
  return {
    observed_at: observedAtText,
    age_seconds: Math.max(
      0,
      Math.floor((askedAt.getTime() - observedAt.getTime()) / 1000),
    ),
    max_age_seconds: maxAgeMs / 1000,
    status: "fresh",
  };
}

function lastSequence(observation: Observation | undefined): number {
  return observation?.verified.state.last_sequence ?? 0;
}

/** A clock that was set back must not keep an old state fresh for ever. */
function isYoungEnough(observedAt: Date, now: Date, maxAgeMs: number): boolean {
  const ageMs = now.getTime() - observedAt.getTime();
  return maxAgeMs > 0 && ageMs >= 0 && ageMs <= maxAgeMs;
}

function notReached(minSequence: number, last: number): SigError {
  return new SigError(
    "consistency_unavailable",
    `Cannot answer: the feed ends at sequence ${last}, before ${minSequence}`,
    {
      context: {
        sequence: minSequence,
        last_sequence: last,
        hint: "Ask again when the issuer has published that event.",
      },
    },
  );
}

function feedStale(
  { observedAt }: Observation,
  maxAgeMs: number,
  cause: SigError,
): SigError {
  const { retry_after_seconds: retryAfter } = cause.context;
  return new SigError(
    "feed_stale",
    `Cannot answer: what is known is older than ${
      maxAgeMs / 1000
    } s, and refreshing it failed (${cause.code})`,
    {
      context: {
        observed_at: formatInstant(instantOf(observedAt)),
        reason: cause.code,
        ...(retryAfter === undefined
          ? {}
          : { retry_after_seconds: retryAfter }),
      },
      cause,
    },
  );
}
