/**
 * What a reader demands of a checkpoint in addition to the issuer's signature: its
 * age and its cosigners (docs/protocol.md §13.3). Whether a proof is used at all is
 * decided in `follow/observe_by_proof.ts`.
 *
 * @module
 */

import { SigError } from "@sig/core";
import type { NoteKey, OpenedCheckpoint } from "@sig/jose/proofs";

/** What a reader demands of a checkpoint; then nothing is answered without one. */
export interface ProofPolicy {
  /** How long ago the issuer may have confirmed it, in milliseconds. */
  readonly maxCheckpointAgeMs?: number | undefined;
  /** Keys of cosigners. */
  readonly cosigners?: readonly NoteKey[] | undefined;
  /** How many of them must have signed it (default: all). */
  readonly requiredCosigners?: number | undefined;
  /** How long ago they may have signed it, in milliseconds (default: any time). */
  readonly cosignedWithinMs?: number | undefined;
}

/** A policy as text; that of another one is another. */
export function describePolicy(
  { cosigners = [], ...limits }: ProofPolicy,
): string {
  const { maxCheckpointAgeMs, requiredCosigners, cosignedWithinMs } = limits;
  const names = [...new Set(cosigners.map((each) => idOf(each)))].sort();
  const numbers = [maxCheckpointAgeMs, requiredCosigners, cosignedWithinMs];
  return JSON.stringify([...numbers, ...names]);
}

/** What is at hand of a checkpoint. */
export interface FoundCheckpoint {
  /** The checkpoint, if there is one that opens. */
  readonly checkpoint?: OpenedCheckpoint | undefined;
  /** Why it does not open, or can't be had. */
  readonly fault?: SigError | undefined;
}

/** How far ahead of the reader's clock a time may be. */
const SKEW_MS = 60_000;

/** Whether a time is at most so long ago, and not ahead of the clock. */
function isWithin(seconds: number, limitMs: number, now: Date): boolean {
  const ageMs = now.getTime() - 1000 * seconds;
  return ageMs <= limitMs && ageMs >= -SKEW_MS;
}

/**
 * Refuses a checkpoint that is not what the reader demands.
 *
 * @throws {SigError} `invalid_checkpoint`, `cosignatures_missing`,
 * `checkpoint_stale`.
 */
export function requirePolicy(
  { checkpoint, fault }: FoundCheckpoint,
  policy: ProofPolicy,
  now: Date,
): void {
  if (fault?.code === "invalid_checkpoint") throw fault;
  const { cosigners = [], cosignedWithinMs = Infinity } = policy;
  const names = new Set(cosigners.map((each) => idOf(each)));
  const required = policy.requiredCosigners ?? names.size;
  const signed = [...checkpoint?.cosignatures ?? []].filter(([, time]) =>
    isWithin(time, cosignedWithinMs, now)
  );
  const found = new Set(signed.map(([each]) => idOf(each))).size;
  if (found < required) {
    throw new SigError(
      "cosignatures_missing",
      `Cannot answer: ${found} of ${required} cosigners have signed the checkpoint`,
      { context: { expected: required } },
    );
  }
  const { maxCheckpointAgeMs } = policy;
  const time = checkpoint?.time ?? null;
  const isStale = maxCheckpointAgeMs !== undefined &&
    (time === null || !isWithin(time, maxCheckpointAgeMs, now));
  if (!isStale) return;
  throw new SigError(
    "checkpoint_stale",
    time === null
      ? "Cannot answer: there is no checkpoint that says when it was signed"
      : `Cannot answer: the checkpoint is of ${
        new Date(1000 * time).toISOString()
      }`,
    { context: { limit_ms: maxCheckpointAgeMs } },
  );
}

/** A cosigner counts once, however often it is named. */
function idOf({ name, key }: NoteKey): string {
  return `${name} ${key.jwk.x}`;
}
