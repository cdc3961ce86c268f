/**
 * Compares the recovery key of an issuer, and its statements, with a pin
 * (docs/protocol.md §14.4).
 *
 * @module
 */

import { encodeHex } from "@std/encoding/hex";
import { encodeBase64Url } from "@sig/jose/internal";
import { type OpenedCheckpoint, sha256 } from "@sig/jose/proofs";
import { digestStatements, type Recovery } from "@sig/jose/recovery";
import type { KnownPin, Pin, PinnedRecovery } from "./pin.ts";

/** Returns what is remembered of a recovery key. */
export function pinnedRecovery(
  recovery: Recovery | undefined,
): PinnedRecovery | null {
  if (recovery === undefined) return null;
  const { commitment, statements } = recovery.member;
  return {
    commitment,
    statements: statements.length,
    sha256: encodeHex(digestStatements(statements)),
  };
}

/**
 * Returns why the recovery key or its statements are not those of a pin;
 * undefined if they continue them, or none are remembered.
 */
export function findOtherRecovery(
  { recovery: pinned }: Pick<KnownPin, "recovery">,
  recovery: Recovery | undefined,
): string | undefined {
  if (pinned === null) return undefined;
  if (recovery === undefined) {
    return "the issuer's recovery key is no longer published";
  }
  const { commitment, statements } = recovery.member;
  if (commitment !== pinned.commitment) {
    return "another recovery key is published than the one that is remembered";
  }
  const known = statements.slice(0, pinned.statements);
  const isContinued = known.length === pinned.statements &&
    encodeHex(digestStatements(known)) === pinned.sha256;
  return isContinued
    ? undefined
    : `the first ${pinned.statements} statements are not those that are ` +
      "remembered";
}

/**
 * Returns whether a remembered recovery key has other statements than are
 * remembered: no state from before may answer.
 */
export function hasNewStatement(
  pin: Pin,
  recovery: Recovery | undefined,
): boolean {
  return pin.status !== "unknown" && pin.recovery !== null &&
    pin.recovery.sha256 !== pinnedRecovery(recovery)?.sha256;
}

/**
 * Returns the keys that need no introduction: the remembered ones, and those of
 * statements. A new statement forgets every other key that it does not end.
 */
export function introducedKeys(
  { feed, proof, recovery: pinned }: Pick<
    KnownPin,
    "feed" | "proof" | "recovery"
  >,
  recovery: Recovery | undefined,
): {
  /** Thumbprints by kid. */
  readonly known: ReadonlyMap<string, string>;
  /** Whether a key that is not among them is a contradiction. */
  readonly isRequired: boolean;
} {
  const known = new Map(Object.entries((proof ?? feed)?.keys ?? {}));
  const ended = new Set<string>();
  for (const { n, keys, ended: now } of recovery?.statements ?? []) {
    for (const { kid } of now) ended.add(kid);
    if (n > (pinned?.statements ?? 0)) {
      for (const kid of known.keys()) {
        const isNamed = Object.hasOwn(keys, kid) || ended.has(kid);
        if (!isNamed) known.delete(kid);
      }
    }
    for (const [kid, x] of Object.entries(keys)) known.set(kid, thumbprint(x));
  }
  // After a statement, a reader of the feed requires introductions too.
  const hasStatements = (recovery?.statements.length ?? 0) > 0;
  return { known, isRequired: proof !== null || hasStatements };
}

/** Returns the RFC 7638 thumbprint of an Ed25519 key. */
function thumbprint(x: string): string {
  const jwk = JSON.stringify({ crv: "Ed25519", kty: "OKP", x });
  return encodeBase64Url(sha256(new TextEncoder().encode(jwk)));
}

/**
 * Returns whether a commitment that is published for the first time may be
 * remembered: an attacker who can write to the web server can publish one, and
 * end keys with it.
 *
 * @param usable Thumbprints of the keys that may sign, by kid.
 */
export function isRecoveryIntroduced(
  { proof, recovery: pinned }: Pick<KnownPin, "proof" | "recovery">,
  recovery: Recovery | undefined,
  checkpoint: OpenedCheckpoint | undefined,
  usable: ReadonlyMap<string, string>,
): boolean {
  if (pinned !== null || recovery === undefined) return true;
  if (proof === null) return recovery.statements.length === 0;
  return checkpoint?.recovery === recovery.member.commitment &&
    checkpoint.kids.some((kid) =>
      Object.hasOwn(proof.keys, kid) && proof.keys[kid] === usable.get(kid)
    );
}
