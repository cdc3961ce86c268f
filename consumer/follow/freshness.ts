/** A state that is recent enough and reaches far enough (docs/protocol.md §6.5). @module */

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
  atOnce,
  observeByProof,
  type ProofObserving,
  type WaitFor,
} from "./observe_by_proof.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import type { KnownIssuer } from "./listed_issuers.ts";

/** What an answer has to rest upon. */
export interface ObserveOptions extends StatePart {
  /**
   * How old the state may be, in milliseconds, when the question is asked. Only
   * tightens the consumer's own `maxAgeMs`; 0 asks the issuer now.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * A sequence that the state must have reached, for instance that of an append
   * that the asker has just seen acknowledged.
   */
  readonly minSequence?: number | undefined;
  /**
   * Does the work of asking the issuer; not called while what is known is
   * enough. A server can limit how many questions wait for one issuer: it may
   * throw (default: the work is done at once).
   */
  readonly waitFor?: WaitFor | undefined;
  /**
   * Whether the issuer may be asked (default: true); with false only what is
   * known answers, as far as it is within the bounds.
   */
  readonly refresh?: boolean | undefined;
}

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
  { maxAgeMs, minSequence = 0 }: Pick<
    ObserveOptions,
    "maxAgeMs" | "minSequence"
  >,
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

/** Starts a refresh, or joins one that is running. */
async function refreshWithin(
  issuer: KnownIssuer,
  { bounds: { maxAgeMs, minSequence }, at }: Observing,
): Promise<Observation> {
  const { refreshes } = issuer;
  const known = answerable(issuer.record);
  const reaches = lastSequence(known) >= minSequence;
  const { runningSince } = refreshes;
  // What began before the question may have missed the event it is about.
  const mayShare = runningSince !== undefined && reaches &&
    isYoungEnough(runningSince, at, maxAgeMs);
  try {
    return await (mayShare ? refreshes.current() : refreshes.next());
  } catch (error) {
    const isStale = known !== undefined && maxAgeMs > 0 &&
      !isYoungEnough(known.observedAt, at, maxAgeMs) &&
      isSigError(error) && error.category === "unavailable" &&
      error.code !== "store_unavailable";
    throw isStale ? feedStale(issuer, known, maxAgeMs, error) : error;
  }
}

/** How an issuer is observed. */
export interface Observing extends ProofObserving {
  /** What the observation must be within. */
  readonly bounds: Bounds;
  /** Remembers issuers of the list. */
  readonly pins?: PinStore | undefined;
}

/**
 * What is known of an issuer, refreshed if the bounds ask for it, and the part of
 * its state that is needed. Where another process replaces the history
 * meanwhile, both are repeated.
 *
 * @throws {SigError} `feed_stale`, `consistency_unavailable`,
 * `store_unavailable`, and why the refresh failed.
 */
export async function observeIssuer(
  issuer: KnownIssuer,
  part: StatePart,
  observing: Observing,
): Promise<{
  readonly observation: Observation;
  readonly verified: VerifiedIssuer;
}> {
  const { pins, full, at, bounds, waitFor = atOnce } = observing;
  const { expectedIssuer } = issuer.location;
  const memory = pins === undefined || full || !issuer.isListed
    ? undefined
    : new IssuerMemory(pins, issuer.location, observing);
  issuer.needsState = part.subjects === undefined;
  return await whileOthersWrite(pins, async () => {
    if (memory !== undefined) await recall(issuer, memory, at);
    const proven = await observeByProof(issuer, memory, part, observing);
    const known = proven.observation ?? observedWithin(issuer, bounds, at);
    if (known === undefined && observing.refresh === false) {
      throw feedStale(issuer, answerable(issuer.record), bounds.maxAgeMs);
    }
    const observation = known ??
      await waitFor(expectedIssuer, () => refreshWithin(issuer, observing));
    requireReached(observation, bounds.minSequence);
    const verified = await partOf(observation, part);
    const { warning } = proven;
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
  // Unless a refresh of this process has learnt more meanwhile.
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
 * How old an observation was when the question was asked, as answers say it:
 * what `maxAgeMs` is about too. The time that a fetch for this question takes
 * makes nothing stale; `evaluated_at` - `observed_at` tells it.
 */
export function freshnessOf(
  { observedAt }: Observation,
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
    status: "fresh",
  };
}

function lastSequence(observation: Observation | undefined): number {
  return observation?.verified.state.last_sequence ?? 0;
}

/** A clock that was set back must not keep an old state fresh. */
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
