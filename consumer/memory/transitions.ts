/**
 * The machine of a pin: every way from one state to another, which state may
 * answer, and which way an issuer is read. DESIGN.md ("The memory of a consumer") has the
 * same as a table.
 *
 * @module
 */

import type { SigError } from "@sig/core";
import {
  beginningOf,
  type KnownPin,
  type Pin,
  type PinIncident,
  type PinnedFeed,
  type PinnedProof,
  type PinnedRecovery,
  type RememberedPin,
  type Seen,
  type Served,
  sizeInJson,
} from "./pin.ts";

/**
 * What a read found. `at` is the time of the read (RFC 3339), `error` that of
 * the question which caused it.
 */
export type Outcome =
  /** The issuer can't be reached. */
  | { readonly kind: "unreachable"; readonly error: SigError }
  /**
   * Its documents or its feed have a fault, or other bytes than the known ones
   * were served and then cut off.
   */
  | { readonly kind: "fault"; readonly error: SigError }
  /** It contradicts the pin. */
  | {
    readonly kind: "contradiction";
    readonly at: string;
    readonly detail: string;
    /** Null if it was not read to its end. */
    readonly served: Served | null;
    readonly error: SigError;
  }
  /** A valid feed continues the pin. */
  | {
    readonly kind: "feed";
    readonly at: string;
    readonly issuer: string;
    readonly feed: PinnedFeed;
    /** Null if there are no proofs, or none was ever confirmed. */
    readonly proof: PinnedProof | null;
    readonly recovery: PinnedRecovery | null;
    /** The keys that signed for the first time. */
    readonly addedKids: readonly string[];
  }
  /** A checkpoint and the lines of one subject continue the pin. */
  | {
    readonly kind: "proof";
    readonly at: string;
    readonly issuer: string;
    readonly proof: PinnedProof;
    readonly recovery: PinnedRecovery | null;
  };

/**
 * The pin is another one than the read was compared with: the read must be
 * repeated.
 */
export const JUDGE_AGAIN = Symbol("judge again");

/** Maximum number of entries that a pin keeps of each list. */
const MAX_KEYS_ADDED = 20;
const MAX_REWRITES = 64;

/** Returns the pin after a read that was compared with this pin. */
export function next(
  pin: Pin,
  outcome: Outcome,
): Pin | typeof JUDGE_AGAIN {
  switch (outcome.kind) {
    case "unreachable":
      return pin;
    case "fault":
      return pin.status === "remembered" ? { ...pin, status: "faulty" } : pin;
    case "contradiction":
      return pin.status === "unknown"
        ? JUDGE_AGAIN
        : afterContradiction(pin, outcome);
    case "feed":
      return afterFeed(pin, outcome);
    case "proof":
      return pin.status === "unknown" || pin.status === "remembered"
        ? afterProof(pin, outcome)
        : JUDGE_AGAIN;
  }
}

/** The outcomes of these kinds. */
export type Of<K extends Outcome["kind"]> = Extract<
  Outcome,
  { readonly kind: K }
>;

function afterContradiction(
  pin: KnownPin,
  { at, detail, served, error: { code } }: Of<"contradiction">,
): KnownPin {
  const before = pin.status === "contradicted" ? pin.incident : undefined;
  const incident: PinIncident = before?.code === code ? before : {
    code,
    since: at,
    detail,
    // What was served first: an operator has confirmed nothing later.
    seen: before?.seen ?? served,
  };
  return { ...pin, status: "contradicted", incident, inconsistency: code };
}

function afterFeed(
  pin: Pin,
  { at, issuer, feed, proof, recovery, addedKids }: Of<"feed">,
): RememberedPin {
  const before = remembered(pin, issuer, at);
  const added = addedKids.map((kid) => ({ kid, at }));
  return {
    ...before,
    last_seen: at,
    feed,
    proof,
    recovery,
    key_added: [...before.key_added, ...added].slice(-MAX_KEYS_ADDED),
  };
}

function afterProof(
  pin: Pin,
  { at, issuer, proof, recovery }: Of<"proof">,
): RememberedPin | typeof JUDGE_AGAIN {
  const before = remembered(pin, issuer, at);
  const isShorter = before.proof !== null &&
    (proof.size < before.proof.size ||
      proof.seen.size < before.proof.seen.size);
  // The read was compared with an older pin, or without one.
  if (isShorter) return JUDGE_AGAIN;
  return { ...before, last_seen: at, proof, recovery };
}

/** Returns a pin without its fault or incident, or a new one. */
function remembered(pin: Pin, issuer: string, at: string): RememberedPin {
  if (pin.status !== "unknown") {
    const { incident: _, ...rest } = { incident: null, ...pin };
    return { ...rest, status: "remembered" };
  }
  return {
    status: "remembered",
    issuer,
    first_seen: at,
    last_seen: at,
    feed: null,
    proof: null,
    recovery: null,
    key_added: [],
    inconsistency: null,
    acknowledged: [],
    rewrites: 0,
    rewritten_from: [],
  };
}

/** Maximum number of acknowledgements that are kept, and of their bytes. */
const MAX_ACKNOWLEDGED = 20;
const MAX_ACKNOWLEDGED_BYTES = 8_000;
const MAX_REASON_BYTES = 6_000;

/** The history that an operator accepts. */
export interface Accepted extends Omit<Of<"feed">, "kind"> {
  readonly reason: string;
  /** The code of the contradiction that ends; null if there is none. */
  readonly code: string | null;
  /**
   * The sequence of the first event that may differ from the remembered ones;
   * null if the served feed continues the pin.
   */
  readonly changedFrom: number | null;
}

/** Returns the pin after `sig pin ack` of the served history. */
export function acknowledge(
  pin: KnownPin,
  { reason, code, changedFrom, ...accepted }: Accepted,
): RememberedPin {
  const isSame = changedFrom === null;
  const after = isSame
    ? remembered(pin, accepted.issuer, accepted.at)
    : afterFeed(pin, { kind: "feed", ...accepted });
  const short = beginningOf(reason, MAX_REASON_BYTES);
  const acknowledged = [
    ...pin.acknowledged,
    { at: accepted.at, reason: short, code },
  ].slice(-MAX_ACKNOWLEDGED);
  while (sizeInJson(acknowledged) > MAX_ACKNOWLEDGED_BYTES) {
    acknowledged.shift();
  }
  return {
    ...after,
    key_added: pin.key_added,
    inconsistency: null,
    acknowledged,
    ...(isSame ? {} : {
      rewrites: pin.rewrites + 1,
      rewritten_from: [...pin.rewritten_from, changedFrom]
        .slice(-MAX_REWRITES),
    }),
  };
}

/** A verified state of this process, without the pin. */
export interface VerifiedState {
  readonly events: number;
  readonly observedAt: Date;
  /** The statements by which events apply, as in {@linkcode PinnedRecovery}. */
  readonly statements: string | null;
  /** Of a whole feed. */
  readonly sha256?: string;
  /** Of the relationships of one subject, by proof. */
  readonly seen?: Seen;
}

/** What a question demands of the state that answers it. */
export interface Demand {
  /** When the question arrived. */
  readonly askedAt: Date;
  /** Maximum age in milliseconds; 0 accepts only a read made for this question. */
  readonly maxAgeMs: number;
  /** The minimum sequence. */
  readonly minSequence: number;
}

/**
 * Returns whether a state of this process has everything that is remembered:
 * any process that shares the pin may have seen more, or something else.
 */
export function isCurrent(pin: Pin, state: VerifiedState): boolean {
  if (pin.status !== "remembered") return false;
  const { feed, proof, recovery } = pin;
  // A new statement changes answers without a new event.
  if (state.statements !== (recovery?.sha256 ?? null)) return false;
  const { sha256, events, seen } = state;
  if (seen === undefined) {
    return feed !== null && sha256 === feed.prefix_sha256 &&
      events >= (proof?.seen.size ?? 0);
  }
  return proof?.seen.size === seen.size && proof.seen.root === seen.root;
}

/**
 * Returns whether a state of this process may answer without a read. Its place
 * and policy are those of its consumer; whether the policy still holds is
 * checked by the caller.
 */
export function mayAnswer(
  pin: Pin,
  state: VerifiedState,
  { askedAt, maxAgeMs, minSequence }: Demand,
): boolean {
  return isCurrent(pin, state) && state.events >= minSequence &&
    isYoungEnough(state.observedAt, askedAt, maxAgeMs);
}

/**
 * Returns whether a state is within an age. A clock that was set back must not
 * keep an old state fresh.
 */
export function isYoungEnough(
  observedAt: Date,
  askedAt: Date,
  maxAgeMs: number,
): boolean {
  const ageMs = askedAt.getTime() - observedAt.getTime();
  return maxAgeMs > 0 && ageMs >= 0 && ageMs <= maxAgeMs;
}

/**
 * Returns whether a proof may answer. A history that was remembered without one
 * must be compared by reading the feed.
 */
export function mayProve(pin: Pin): boolean {
  return pin.status === "unknown" ||
    (pin.status === "remembered" && pin.proof !== null);
}
