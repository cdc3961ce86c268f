/** Answering a login challenge (PROTOCOL §7). @module */

import {
  ATTESTATION_TYP,
  formatInstant,
  instantOf,
  parseDidWeb,
  quote,
  SigError,
} from "@sig/core";
import {
  type AttestationChallenge,
  type AttestationClaims,
  MAX_ATTESTATION_LENGTH,
} from "./attestation.ts";
import { checkChallenge, type CheckedChallenge } from "./challenge.ts";
import { jwkToDidKey } from "./did_key.ts";
import { signJws } from "./sign_jws.ts";
import type { SigningKey } from "./signing_key.ts";

/** What {@linkcode signAttestation} needs. */
export interface SignAttestationOptions {
  /** The challenge as the service sent it; show its `message` first. */
  readonly challenge: AttestationChallenge;
  /** The subject's key. */
  readonly key: SigningKey;
  /**
   * Who answers: a did:web whose document lists the key under
   * `authentication`, or the key's did:key. Unless told: the challenge's
   * subject, else the did:key.
   */
  readonly subject?: string;
  /** What is granted, within the challenge's; all of it unless told. */
  readonly scopes?: readonly string[];
  /** The clock. */
  readonly now: () => Date;
}

/**
 * Signs the answer to a login challenge: a compact JWS that names the audience,
 * the nonce and what is granted, and expires with the challenge. Whoever calls
 * this must have shown the user which site asks for what; check that
 * `challenge.audience` is the site that the challenge came from. (PROTOCOL §7)
 *
 * @example
 * ```ts
 * import {
 *   generateSigningKey,
 *   importSigningKey,
 *   jwkToDidKey,
 *   signAttestation,
 *   verifyAttestation,
 * } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const now = () => new Date("2026-01-31T09:00:00Z");
 * const challenge = {
 *   challenge_id: "c-1",
 *   audience: "https://shop.example",
 *   nonce: "n-1",
 *   scopes: ["profile"],
 *   expires_at: "2026-01-31T09:05:00Z",
 * };
 * const key = await importSigningKey(await generateSigningKey());
 * const jwt = await signAttestation({ challenge, key, now });
 *
 * const verified = await verifyAttestation(jwt, { challenge, now });
 * assertEquals(verified.subject, jwkToDidKey(key.publicJwk));
 * assertEquals(verified.scopes, ["profile"]);
 * ```
 *
 * @throws {SigError} `missing_field` and `invalid_field` for the challenge,
 * `challenge_expired`, `scope_not_granted` for a scope that was not asked for,
 * `subject_mismatch` when the challenge is for another subject or the did:key
 * for another key, `unsupported_did_method`, `invalid_identifier`,
 * `invalid_attestation` when it would be longer than 8 KiB.
 */
export async function signAttestation(
  options: SignAttestationOptions,
): Promise<string> {
  const { key } = options;
  const challenge = checkChallenge(options.challenge);
  const subject = chooseSubject(options, challenge);
  const claims: AttestationClaims = {
    iss: subject.did,
    sub: subject.did,
    aud: challenge.audience,
    nonce: challenge.nonce,
    jti: challenge.challengeId,
    ...chooseTimes(options, challenge),
    ...chooseScope(options, challenge),
  };
  const header = { alg: "EdDSA", typ: ATTESTATION_TYP, kid: subject.kid };
  const jws = await signJws(header, JSON.stringify(claims), key);
  const jwt = `${jws.protected}.${jws.payload}.${jws.signature}`;
  if (jwt.length <= MAX_ATTESTATION_LENGTH) return jwt;
  throw refuse(
    "invalid_attestation",
    `it would be longer than ${MAX_ATTESTATION_LENGTH} characters`,
  );
}

function refuse(
  code:
    | "challenge_expired"
    | "invalid_attestation"
    | "scope_not_granted"
    | "subject_mismatch"
    | "unsupported_did_method",
  why: string,
): SigError {
  return new SigError(code, `Cannot sign attestation: ${why}`);
}

function chooseSubject(
  { subject, key }: SignAttestationOptions,
  challenge: CheckedChallenge,
): { readonly did: string; readonly kid: string } {
  const didKey = jwkToDidKey(key.publicJwk);
  const did = subject ?? challenge.subject ?? didKey;
  if (challenge.subject !== undefined && challenge.subject !== did) {
    throw refuse(
      "subject_mismatch",
      `the challenge is for ${quote(challenge.subject)}`,
    );
  }
  if (did === didKey) {
    return { did, kid: `${did}#${did.slice("did:key:".length)}` };
  }
  if (did.startsWith("did:key:")) {
    throw refuse(
      "subject_mismatch",
      `${quote(did)} is another key than ${quote(didKey)}`,
    );
  }
  if (!did.startsWith("did:web:")) {
    throw refuse(
      "unsupported_did_method",
      `${quote(did)} is neither a did:key nor a did:web`,
    );
  }
  // A private host is the verifier's to allow; here the form is judged.
  parseDidWeb(did, { allowPrivate: true });
  return { did, kid: `${did}#${key.kid}` };
}

/** Whole seconds, rounded so that the token never outlives the challenge. */
function chooseTimes(
  { now }: SignAttestationOptions,
  { expiresAt }: CheckedChallenge,
): { readonly iat: number; readonly exp: number } {
  const iat = instantOf(now()).seconds;
  const exp = expiresAt.seconds;
  if (iat < exp) return { iat, exp };
  throw refuse(
    "challenge_expired",
    `the challenge expired at ${formatInstant(expiresAt)}`,
  );
}

function chooseScope(
  { scopes }: SignAttestationOptions,
  challenge: CheckedChallenge,
): { readonly scope?: string } {
  const granted = [...new Set(scopes ?? challenge.scopes)].sort();
  const extra = granted.find((scope) => !challenge.scopes.includes(scope));
  if (extra !== undefined) {
    throw refuse(
      "scope_not_granted",
      `scope ${quote(extra)} was not asked for`,
    );
  }
  return granted.length === 0 ? {} : { scope: granted.join(" ") };
}
