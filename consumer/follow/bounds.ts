/** What a question demands of the state that answers it (docs/protocol.md §6.5). @module */

import {
  type Continuity,
  type Freshness,
  type ParsedTime,
  SigError,
  type Warning,
} from "@sig/core";
import type { Demand } from "../memory/transitions.ts";
import type { FeedPolicy } from "../verify/verified_feed.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import { type Observation, timeOf } from "./reading.ts";

/** Runs work that waits for an issuer (by its DID), or throws. */
export type WaitFor = <T>(issuer: string, work: () => Promise<T>) => Promise<T>;

/** The default of `ObserveOptions.waitFor`. */
export const runImmediately: WaitFor = (_issuer, work) => work();

/** The part of a state that a question needs. */
export interface StateScope {
  /** The subjects (default: all). */
  readonly subjects?: readonly string[] | undefined;
  /** The past time or sequence whose knowledge applies. */
  readonly asOf?: ParsedTime["asOf"];
  /**
   * The time whose truth the question is about; null for now (default: any).
   */
  readonly at?: ParsedTime["at"] | null;
}

/** A question that can be answered by proof. */
export interface ProofQuestion {
  readonly subject: string;
  readonly asOf?: number | undefined;
  /** Whether the question may be about a past time. */
  readonly isPast: boolean;
}

/**
 * Returns the question of a part that can be answered by proof: about one
 * subject, without `asOf` as a time, and under the default rules for events;
 * otherwise undefined.
 */
export function provableQuestion(
  { subjects, asOf, at }: StateScope,
  { unknownEvents, unmatchedRevoke }: FeedPolicy,
): ProofQuestion | undefined {
  if (unknownEvents === "ignore" || unmatchedRevoke === "reject") {
    return undefined;
  }
  const subject = subjects?.[0];
  const isPast = at !== null;
  if (
    subject === undefined || subjects!.some((other) => other !== subject)
  ) return undefined;
  return asOf === undefined || typeof asOf === "number" && at
    ? { subject, asOf, isPast }
    : undefined;
}

/** Requirements for the state that an answer is made from. */
export interface ObserveOptions extends StateScope {
  /**
   * Maximum age of the state in milliseconds, when the question arrives. Can
   * only lower the consumer's own `maxAgeMs`; 0 forces a refresh.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * The minimum sequence of the state (default: 0), for example that of an
   * append that the caller has just made.
   */
  readonly minSequence?: number | undefined;
  /**
   * How much older than `maxAgeMs` a state may be while the issuer can't be
   * reached, in milliseconds (default: the consumer's `graceMs`, or 0 with
   * `maxAgeMs: 0`). Replaces the consumer's, up or down.
   */
  readonly graceMs?: number | undefined;
  /** Ends the wait with its reason; a refresh that others share continues. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the work of refreshing the issuer; not called if the known
   * state suffices. A server can use it to limit the questions that wait for
   * one issuer: it may throw (default: runs the work immediately).
   */
  readonly waitFor?: WaitFor | undefined;
  /**
   * Whether a refresh is allowed (default: true). If false, only a known state
   * within the bounds answers; otherwise throws `feed_stale`.
   */
  readonly refresh?: boolean | undefined;
}

/** A verified issuer, with its age and continuity. */
export interface ObservedIssuer {
  /** Everything that was verified. */
  readonly verified: VerifiedIssuer;
  /** When the fetch began. */
  readonly observedAt: Date;
  /** The age of the state, in the form of answers. */
  readonly freshness: Freshness;
  /**
   * `first_seen` in the first observation, then `consistent`: a later fetch
   * confirmed the pin. `unpinned` for an unlisted issuer.
   */
  readonly continuity: Continuity;
  /** The warnings; include `history_was_inconsistent` after a contradiction. */
  readonly warnings: readonly Warning[];
}

/** Validated bounds of {@linkcode ObserveOptions}, with defaults. */
export interface Bounds extends Omit<Demand, "askedAt"> {
  /** The grace in milliseconds; 0 for none. */
  readonly graceMs: number;
}

/** The members of a question that bound its state, or its wait. */
export const BOUNDS = [
  "maxAgeMs",
  "minSequence",
  "graceMs",
  "signal",
] as const satisfies (keyof ObserveOptions)[];

/**
 * Validates the bounds of a question, and applies those of the consumer.
 *
 * @throws {SigError} `invalid_request`
 */
export function readBounds(
  { maxAgeMs, minSequence = 0, graceMs, signal }: Pick<
    ObserveOptions,
    typeof BOUNDS[number]
  >,
  own: Pick<Bounds, "maxAgeMs" | "graceMs">,
): Bounds {
  const isAge = (ms: number | undefined) => ms === undefined || ms >= 0;
  const isSequence = Number.isSafeInteger(minSequence) && minSequence >= 0;
  const isSignal = signal === undefined || signal instanceof AbortSignal;
  requireBound("graceMs", isAge(graceMs), NUMBER);
  requireBound("signal", isSignal, "an AbortSignal");
  requireBound("max_age_seconds", isAge(maxAgeMs), NUMBER);
  requireBound("min_sequence", isSequence, "an integer from 0 to 2^53-1");
  const oldest = Math.min(maxAgeMs ?? Infinity, own.maxAgeMs);
  return {
    maxAgeMs: oldest,
    minSequence,
    // A question that needs current data must set `graceMs` itself to accept an
    // older state.
    graceMs: graceMs ?? (oldest > 0 ? own.graceMs : 0),
  };
}

const NUMBER = "a number, 0 or more";

function requireBound(name: string, isValid: boolean, rule: string): void {
  if (isValid) return;
  throw new SigError("invalid_request", {
    action: "answer",
    reason: `${name} must be ${rule}`,
    context: { pointer: `/${name}` },
  });
}

/**
 * Returns the age of an observation when the question arrived, which is the age
 * that `maxAgeMs` limits. The duration of a fetch for this question does not
 * count; `evaluated_at` - `observed_at` includes it.
 */
export function freshnessOf(
  { observedAt, observedText, isStale }: Observation,
  askedAt: Date,
  maxAgeMs: number,
): Freshness {
  return {
    observed_at: observedText,
    age_seconds: Math.max(
      0,
      Math.floor((askedAt.getTime() - observedAt.getTime()) / 1000),
    ),
    max_age_seconds: maxAgeMs / 1000,
    status: isStale ? "stale" : "fresh",
  };
}

/** @throws {SigError} `consistency_unavailable` */
export function requireReached(
  { verified: { state: { last_sequence: last } } }: Observation,
  minSequence: number,
): void {
  if (last >= minSequence) return;
  throw new SigError("consistency_unavailable", {
    action: "answer",
    reason: `the feed ends at sequence ${last}, before ${minSequence}`,
    context: {
      sequence: minSequence,
      last_sequence: last,
      hint: "Ask again when the issuer has published that event.",
    },
  });
}

/**
 * Creates the error of a state that is too old and can't be refreshed.
 *
 * @param known When the known state was read; undefined if there is none.
 */
export function feedStale(
  issuer: string,
  known: Date | undefined,
  maxAgeMs: number,
  cause?: SigError,
): SigError {
  const { retry_after_seconds: retryAfter } = cause?.context ?? {};
  const why = known === undefined
    ? "nothing is known of the issuer"
    : `what is known is older than ${maxAgeMs / 1000} s`;
  const failed = cause && `, and refreshing it failed (${cause.code})`;
  return new SigError("feed_stale", {
    action: "answer",
    reason: `${why}${failed ?? ""}`,
    context: {
      issuer,
      ...(known && { observed_at: timeOf(known) }),
      ...(cause && { reason: cause.code }),
      ...(retryAfter && { retry_after_seconds: retryAfter }),
    },
    ...(cause && { cause }),
  });
}
