/** Observes an issuer within a maximum age and from a minimum sequence (docs/protocol.md §6.5). @module */

import {
  type Continuity,
  formatInstant,
  type Freshness,
  instantOf,
  isSigError,
  SigError,
  type Warning,
} from "@sig/core";
import {
  answerable,
  NOTHING_KNOWN,
  type Observation,
} from "../memory/issuer_record.ts";
import { IssuerMemory } from "../memory/memory.ts";
import type { StatePart } from "../memory/partial_history.ts";
import { whileOthersWrite } from "../memory/pin.ts";
import type { PinStore } from "../memory/sqlite_lines.ts";
import {
  observeByProof,
  type ProofObserving,
  runImmediately,
  type WaitFor,
} from "./observe_by_proof.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import { isUnreachable } from "./back_off.ts";
import type { KnownIssuer } from "./listed_issuers.ts";

/** Requirements for the state that an answer is made from. */
export interface ObserveOptions extends StatePart {
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
  /** Ends the wait with its reason; a refresh that others share goes on. */
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

/** Validated {@linkcode ObserveOptions}, with defaults. */
export interface Bounds {
  /** Maximum age in milliseconds; `Infinity` for any age. */
  readonly maxAgeMs: number;
  /** The minimum sequence; 0 for any. */
  readonly minSequence: number;
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
  if (graceMs !== undefined && !(graceMs >= 0)) {
    throw new SigError(
      "invalid_request",
      "Cannot answer: graceMs must be a number, 0 or more",
      { context: { pointer: "/graceMs" } },
    );
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new SigError(
      "invalid_request",
      "Cannot answer: signal must be an AbortSignal",
      { context: { pointer: "/signal" } },
    );
  }
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
  const oldest = Math.min(maxAgeMs ?? Infinity, own.maxAgeMs);
  return {
    maxAgeMs: oldest,
    minSequence,
    // A question that needs current data must say itself that it may go
    // without.
    graceMs: graceMs ?? (oldest > 0 ? own.graceMs : 0),
  };
}

/** Returns the known observation of an issuer, if it is within the bounds. */
export function observedWithin(
  { record }: KnownIssuer,
  { maxAgeMs, minSequence }: Bounds,
  now: Date,
): Observation | undefined {
  const known = answerable(record);
  return known !== undefined && lastSequence(known) >= minSequence &&
      isYoungEnough(known.observedAt, now, maxAgeMs)
    ? known
    : undefined;
}

async function refreshWithin(
  issuer: KnownIssuer,
  { bounds: { maxAgeMs, minSequence }, at }: Observing,
  signal: AbortSignal | undefined,
): Promise<Observation> {
  const { refreshes } = issuer;
  const known = answerable(issuer.record);
  const reaches = lastSequence(known) >= minSequence;
  const { runningSince } = refreshes;
  // A refresh that began before the question may have missed its event.
  const mayShare = runningSince !== undefined && reaches &&
    isYoungEnough(runningSince, at, maxAgeMs);
  return await (mayShare ? refreshes.current(signal) : refreshes.next(signal));
}

/**
 * Returns the state that answers although it could not be refreshed.
 *
 * @throws {SigError} `feed_stale`, or the error.
 */
function forgive(
  error: unknown,
  issuer: KnownIssuer,
  { bounds, at }: Observing,
): Observation {
  const { maxAgeMs, minSequence, graceMs } = bounds;
  // A fault or a contradiction that was seen makes it unusable.
  const known = answerable(issuer.record);
  if (known === undefined) throw error;
  if (
    isUnreachable(error) && lastSequence(known) >= minSequence &&
    isYoungEnough(known.observedAt, at, maxAgeMs + graceMs)
  ) return { ...known, isStale: true };
  const isStale = maxAgeMs > 0 &&
    !isYoungEnough(known.observedAt, at, maxAgeMs) &&
    isSigError(error) && error.category === "unavailable" &&
    error.code !== "store_unavailable";
  throw isStale ? feedStale(issuer, known, maxAgeMs, error) : error;
}

interface Observing extends ProofObserving {
  readonly bounds: Bounds;
  readonly pins?: PinStore | undefined;
}

/**
 * Returns an observation of an issuer, refreshed if the bounds require it, and
 * the needed part of its state. Repeats both if another process replaces the
 * history meanwhile.
 *
 * @throws {SigError} `feed_stale`, `consistency_unavailable`,
 * `store_unavailable`, and the error of a failed refresh.
 */
export async function observeIssuer(
  issuer: KnownIssuer,
  part: StatePart & Pick<ObserveOptions, "signal">,
  observing: Observing,
): Promise<{
  readonly observation: Observation;
  readonly verified: VerifiedIssuer;
}> {
  const { pins, full, at, bounds, waitFor = runImmediately } = observing;
  const { expectedIssuer } = issuer.location;
  const memory = pins === undefined || full || !issuer.isListed
    ? undefined
    : new IssuerMemory(pins, issuer.location, observing);
  issuer.needsState = part.subjects === undefined;
  return await whileOthersWrite(pins, async () => {
    if (memory !== undefined) await recall(issuer, memory, at);
    const read = async (signal?: AbortSignal) => {
      const proven = await observeByProof(issuer, memory, part, observing);
      const observation = proven.observation ??
        observedWithin(issuer, bounds, at) ??
        await waitFor(
          expectedIssuer,
          () => refreshWithin(issuer, observing, signal),
        );
      return { observation, warning: proven.warning };
    };
    const known = observedWithin(issuer, bounds, at);
    if (known === undefined && observing.refresh === false) {
      throw feedStale(issuer, answerable(issuer.record), bounds.maxAgeMs);
    }
    const { observation, warning } = known === undefined
      ? await issuer.backOff.ask(read, {
        isUrgent: bounds.maxAgeMs === 0,
        signal: part.signal,
      }).catch((error) => ({
        observation: forgive(error, issuer, observing),
        warning: undefined,
      }))
      : { observation: known, warning: undefined };
    requireReached(observation, bounds.minSequence);
    const verified = await partOf(observation, part);
    if (warning === undefined) return { observation, verified };
    const warnings = [warning, ...verified.warnings];
    return { observation, verified: { ...verified, warnings } };
  }, () => issuer.record = NOTHING_KNOWN);
}

async function recall(
  issuer: KnownIssuer,
  memory: IssuerMemory,
  at: Date,
): Promise<void> {
  const { record } = issuer;
  const recalled = await memory.recall(record, at);
  // A concurrent refresh of this process may have stored a newer record.
  if (issuer.record === record) issuer.record = recalled;
}

async function partOf(
  { verified, stored }: Observation,
  part: StatePart,
): Promise<VerifiedIssuer> {
  if (stored === undefined) return verified;
  const state = await stored.read(part);
  return { ...verified, state, feed: { ...verified.feed, state } };
}

/**
 * Returns the age of an observation when the question arrived, which is the age
 * that `maxAgeMs` limits. The duration of a fetch for this question does not
 * count; `evaluated_at` - `observed_at` includes it.
 */
export function freshnessOf(
  { observedAt, isStale }: Observation,
  askedAt: Date,
  maxAgeMs: number,
): Freshness {
  return {
    observed_at: formatInstant(instantOf(observedAt)),
    age_seconds: Math.max(
      0,
      Math.floor((askedAt.getTime() - observedAt.getTime()) / 1000),
    ),
    max_age_seconds: maxAgeMs / 1000,
    status: isStale ? "stale" : "fresh",
  };
}

function lastSequence(observation: Observation | undefined): number {
  return observation?.verified.state.last_sequence ?? 0;
}

/**
 * Returns whether a state is within an age. A clock that was set back must not
 * keep an old state fresh.
 */
function isYoungEnough(observedAt: Date, now: Date, maxAgeMs: number): boolean {
  const ageMs = now.getTime() - observedAt.getTime();
  return maxAgeMs > 0 && ageMs >= 0 && ageMs <= maxAgeMs;
}

/** @throws {SigError} `consistency_unavailable` */
function requireReached(observation: Observation, minSequence: number): void {
  const last = lastSequence(observation);
  if (last >= minSequence) return;
  throw new SigError(
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
  { location }: KnownIssuer,
  known: Observation | undefined,
  maxAgeMs: number,
  cause?: SigError,
): SigError {
  const { retry_after_seconds: retryAfter } = cause?.context ?? {};
  const why = known === undefined
    ? "nothing is known of the issuer"
    : `what is known is older than ${maxAgeMs / 1000} s`;
  const failed = cause && `, and refreshing it failed (${cause.code})`;
  return new SigError("feed_stale", `Cannot answer: ${why}${failed ?? ""}`, {
    context: {
      issuer: location.expectedIssuer,
      ...(known && {
        observed_at: formatInstant(instantOf(known.observedAt)),
      }),
      ...(cause && { reason: cause.code }),
      ...(retryAfter && { retry_after_seconds: retryAfter }),
    },
    ...(cause && { cause }),
  });
}
