/**
 * Requirements for a checkpoint in addition to the issuer's signature: its age
 * and its cosigners (docs/protocol.md §13.3). `memory/transitions.ts`
 * decides whether a proof is used at all.
 *
 * @module
 */

import { formatInstant, parseIssuerDid, SigError } from "@sig/core";
import type { NoteKey, OpenedCheckpoint } from "@sig/jose/proofs";

/**
 * Requirements for a checkpoint. If any is set, there is no answer without a
 * checkpoint.
 */
export interface ProofPolicy {
  /** Maximum age of the checkpoint in milliseconds (default: no limit). */
  readonly maxCheckpointAgeMs?: number | undefined;
  /** Public keys of cosigners. */
  readonly cosigners?: readonly NoteKey[] | undefined;
  /** Number of cosigners that must have signed it (default: all). */
  readonly requiredCosigners?: number | undefined;
  /** Maximum age of their signatures in milliseconds (default: no limit). */
  readonly cosignedWithinMs?: number | undefined;
}

/** The checkpoint of an issuer, or the reason why there is none. */
interface FoundCheckpoint {
  readonly checkpoint?: OpenedCheckpoint | undefined;
  readonly fault?: SigError | undefined;
}

/** How far a time may be ahead of the local clock, in milliseconds. */
const SKEW_MS = 60_000;

/** Returns whether a time is within the limit and not ahead of the clock. */
function isWithin(seconds: number, limitMs: number, now: Date): boolean {
  const ageMs = now.getTime() - 1000 * seconds;
  return ageMs <= limitMs && ageMs >= -SKEW_MS;
}

/**
 * Refuses a checkpoint that does not meet the policy.
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
    throw new SigError("cosignatures_missing", {
      action: "answer",
      reason: `${found} of ${required} cosigners have signed the checkpoint`,
      context: { expected: required },
    });
  }
  const { maxCheckpointAgeMs } = policy;
  const time = checkpoint?.time ?? null;
  const isStale = maxCheckpointAgeMs !== undefined &&
    (time === null || !isWithin(time, maxCheckpointAgeMs, now));
  if (!isStale) return;
  throw new SigError("checkpoint_stale", {
    action: "answer",
    reason: time === null
      ? "there is no checkpoint that says when it was signed"
      : `the checkpoint is of ${new Date(1000 * time).toISOString()}`,
    context: { limit_ms: maxCheckpointAgeMs },
  });
}

/** Identifies a cosigner, so that a key that is listed twice counts once. */
function idOf({ name, key }: NoteKey): string {
  return `${name} ${key.jwk.x}`;
}

/**
 * Returns when the issuer last confirmed a checkpoint as the newest (RFC 3339);
 * null if not stated.
 */
export function confirmedAt({ time }: OpenedCheckpoint): string | null {
  return time === null
    ? null
    : formatInstant({ seconds: time, nanoseconds: 0 });
}

/** Maximum size of an evidence file in bytes (2 MiB). */
export const MAX_EVIDENCE_BYTES: number = 2 * 1024 * 1024;

/** Returns the origin line of an issuer's checkpoints. */
export function originOf(issuer: string): string {
  const { host, port } = parseIssuerDid(issuer, { allowPrivate: true });
  return `${host}${port === undefined ? "" : `:${port}`}/.well-known/sig`;
}
