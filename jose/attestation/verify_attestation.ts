/** Verification of answers to challenges (docs/protocol.md §7). @module */

import { DEFAULT_LIMITS, type ErrorCode, instantOf, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  type AttestationChallenge,
  parseAttestation,
  type ParsedAttestation,
} from "./attestation.ts";
import { validateChallenge, type ValidChallenge } from "./challenge.ts";
import { equalInConstantTime } from "../bytes/bytes.ts";
import { resolveDidKey } from "../keys/did_key.ts";
import type { VerificationKey } from "../keys/verification_key.ts";

/** Returns the key that an attestation's `kid` names, or throws. */
export type AttestationKeyResolver = (
  kid: string,
) => VerificationKey | Promise<VerificationKey>;

/** Options of {@linkcode verifyAttestation}. */
export interface VerifyAttestationOptions {
  /** The issued challenge, whose members the attestation must repeat. */
  readonly challenge: AttestationChallenge;
  /** Returns the current time. */
  readonly now: () => Date;
  /**
   * Resolves the subject's key (default: `resolveDidKey`). A single key is
   * valid for its own `kid` only.
   */
  readonly key?: VerificationKey | AttestationKeyResolver;
  /** Scopes that must be granted. */
  readonly requiredScopes?: readonly string[];
  /** Tolerated difference between clocks in seconds (default: 60). */
  readonly clockSkewSeconds?: number;
}

/**
 * Verifies an attestation against its challenge, in the order of
 * docs/protocol.md §7: audience, nonce, subject, scopes, times and signature.
 * It keeps no state: the caller must store challenges, accept each **only
 * once**, and invalidate it after failures.
 *
 * A parsed attestation is not parsed again.
 *
 * @example Reject a token for another site
 * ```ts
 * import {
 *   generateSigningKey,
 *   importSigningKey,
 *   signAttestation,
 *   verifyAttestation,
 * } from "@sig/jose";
 * import { isSigError } from "@sig/core";
 * import { assert, assertRejects } from "@std/assert";
 *
 * const now = () => new Date("2026-01-31T09:00:00Z");
 * const challenge = {
 *   challenge_id: "c-1",
 *   audience: "https://shop.example",
 *   nonce: "n-1",
 *   scopes: [],
 *   issued_at: "2026-01-31T09:00:00Z",
 *   expires_at: "2026-01-31T09:05:00Z",
 * };
 * const key = await importSigningKey(await generateSigningKey());
 * const jwt = await signAttestation({ challenge, key, now });
 *
 * const ours = { ...challenge, audience: "https://other.example" };
 * const error = await assertRejects(() =>
 *   verifyAttestation(jwt, { challenge: ours, now })
 * );
 * assert(isSigError(error, "audience_mismatch"));
 * ```
 *
 * @throws {SigError} as `parseAttestation`; then
 * `invalid_attestation` (another challenge), `audience_mismatch`,
 * `nonce_mismatch`, `subject_mismatch`, `scope_not_granted`,
 * `attestation_time_invalid`; the errors of the key resolver;
 * `attestation_signature_invalid`. `missing_field`, `invalid_field` for the
 * challenge.
 */
export async function verifyAttestation(
  attestation: string | ParsedAttestation,
  options: VerifyAttestationOptions,
): Promise<ParsedAttestation> {
  const challenge = validateChallenge(options.challenge);
  const parsed = typeof attestation === "object"
    ? attestation
    : parseAttestation(attestation);
  requireChallenge(parsed, challenge);
  requireSubject(parsed, challenge);
  requireScopes(parsed, challenge, options);
  requireTimes(parsed, challenge, options);
  const key = await findKey(parsed.header.kid, options.key ?? resolveDidKey);
  if (await key.verify(parsed.signature, parsed.signingInput)) return parsed;
  throw refuse(
    "attestation_signature_invalid",
    `the signature is not one of key ${quote(parsed.header.kid)}`,
  );
}

/** Returns the key of a kid. A single key must not sign as another subject. */
async function findKey(
  kid: string,
  key: VerificationKey | AttestationKeyResolver,
): Promise<VerificationKey> {
  if (typeof key === "function") return await key(kid);
  if (key.kid === kid) return key;
  throw refuse(
    "attestation_signature_invalid",
    `the key given is not the one of kid ${quote(kid)}`,
  );
}

function refuse(code: ErrorCode, why: string): SigError {
  return new SigError(code, { action: "accept attestation", reason: why });
}

function requireChallenge(
  { claims }: ParsedAttestation,
  challenge: ValidChallenge,
): void {
  if (claims.jti !== challenge.challengeId) {
    throw refuse("invalid_attestation", "it answers another challenge");
  }
  if (claims.aud !== challenge.audience) {
    throw refuse("audience_mismatch", "it is for another audience");
  }
  if (!equalInConstantTime(claims.nonce, challenge.nonce)) {
    throw refuse("nonce_mismatch", "it has another nonce");
  }
}

function requireSubject(
  { claims, subject }: ParsedAttestation,
  challenge: ValidChallenge,
): void {
  if (claims.iss !== subject || claims.sub !== subject) {
    throw refuse(
      "subject_mismatch",
      `iss and sub must be the DID of its kid, ${quote(subject)}`,
    );
  }
  if (challenge.subject !== undefined && challenge.subject !== subject) {
    throw refuse(
      "subject_mismatch",
      `the challenge is for ${quote(challenge.subject)}`,
    );
  }
}

function requireScopes(
  { scopes }: ParsedAttestation,
  challenge: ValidChallenge,
  { requiredScopes = [] }: VerifyAttestationOptions,
): void {
  const extra = scopes.find((scope) => !challenge.scopes.includes(scope));
  if (extra !== undefined) {
    throw refuse(
      "scope_not_granted",
      `scope ${quote(extra)} is not a scope of the challenge`,
    );
  }
  const missing = requiredScopes.find((scope) => !scopes.includes(scope));
  if (missing === undefined) return;
  throw refuse(
    "scope_not_granted",
    `scope ${quote(missing)} was expected, and is not granted`,
  );
}

function requireTimes(
  { claims }: ParsedAttestation,
  { expiresAt }: ValidChallenge,
  { now, clockSkewSeconds }: VerifyAttestationOptions,
): void {
  const instant = instantOf(now());
  const seconds = instant.seconds + instant.nanoseconds / 1e9;
  const skew = clockSkewSeconds ?? DEFAULT_LIMITS.clockSkewSeconds;
  const refusal = (why: string) => refuse("attestation_time_invalid", why);
  if (seconds >= claims.exp) throw refusal("it has expired");
  if (claims.iat > seconds + skew) {
    throw refusal(`its iat is more than ${skew} s in the future`);
  }
  if (claims.exp > expiresAt.seconds + expiresAt.nanoseconds / 1e9) {
    throw refusal("its exp lies after the challenge's expiry");
  }
}
