/**
 * Finds the state of this process that answers a question without a read. The
 * rules are in `memory/transitions.ts`.
 *
 * @module
 */

import { isSigError, type Warning } from "@sig/core";
import type { PinKeeper } from "../memory/keeper.ts";
import type { Pin } from "../memory/pin.ts";
import { isCurrent, isYoungEnough, mayAnswer } from "../memory/transitions.ts";
import { type ProofPolicy, requirePolicy } from "../proofs/proof_policy.ts";
import type { Bounds, ProofQuestion } from "./bounds.ts";
import type { KnownIssuer } from "./known_issuers.ts";
import type { Copy, Observation, Part } from "./reading.ts";

/** What a question demands of the state that answers it. */
export interface Demanded {
  /** When the question arrived. */
  readonly askedAt: Date;
  readonly bounds: Bounds;
  readonly checkpointPolicy?: ProofPolicy | undefined;
}

type States = readonly (Copy | Part | undefined)[];

/** Returns the states of this process that can answer a question. */
export function statesFor(
  { copy, parts }: KnownIssuer,
  question: ProofQuestion | undefined,
): States {
  return [copy, question && parts.find(question)];
}

/** Returns the observation of the first state that may answer. */
export function answerOf(
  states: States,
  keeper: PinKeeper,
  pin: Pin,
  { askedAt, bounds, checkpointPolicy }: Demanded,
): Observation | undefined {
  const { maxAgeMs, minSequence } = bounds;
  const demand = { askedAt, maxAgeMs, minSequence };
  const state = states.find((each) =>
    each !== undefined && mayAnswer(pin, each, demand) &&
    stillMeets(each, checkpointPolicy, askedAt)
  );
  return state && observationOf(keeper, pin, state);
}

/** Returns when the state was read that has everything that is remembered. */
export function currentSince(
  states: States,
  pin: Pin,
): Date | undefined {
  return states.find((each) => each && isCurrent(pin, each))?.observedAt;
}

/** Returns whether a refresh that began before the question has its event. */
export function mayShare(
  { copy, refreshes: { runningSince } }: KnownIssuer,
  pin: Pin,
  { askedAt, bounds: { maxAgeMs, minSequence } }: Demanded,
): boolean {
  const events = copy !== undefined && isCurrent(pin, copy) ? copy.events : 0;
  return runningSince !== undefined && events >= minSequence &&
    isYoungEnough(runningSince, askedAt, maxAgeMs);
}

/** A policy must hold when the answer is given, not when the state was read. */
function stillMeets(
  { checkpoint }: Copy | Part,
  policy: ProofPolicy | undefined,
  at: Date,
): boolean {
  try {
    if (policy !== undefined) requirePolicy({ checkpoint }, policy, at);
    return true;
  } catch (error) {
    if (!isSigError(error)) throw error;
    return false;
  }
}

/** Returns the observation of a state, as the pin and the keeper show it. */
export function observationOf(
  { forgets }: PinKeeper,
  pin: Pin,
  { verified, observedAt, observedText, continuity: known }: Copy | Part,
): Observation {
  const continuity = forgets ? "unpinned" : known;
  const observation = { verified, observedAt, observedText, continuity };
  const code = pin.status === "unknown" ? null : pin.inconsistency;
  if (code === null) return observation;
  // Precedes all other warnings: an answer lists few, and an issuer can cause
  // any number.
  return warned(observation, {
    code: "history_was_inconsistent",
    detail: "since it is remembered, the issuer served something that " +
      `contradicts its history (${code})`,
  });
}

/** Returns an observation with a warning before all others. */
export function warned(
  observation: Observation,
  warning: Warning,
): Observation {
  const { verified } = observation;
  const warnings = [warning, ...verified.warnings];
  return { ...observation, verified: { ...verified, warnings } };
}
