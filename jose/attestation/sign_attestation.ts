/** Answering a login challenge (docs/protocol.md §7). @module */

import {
  DEFAULT_LIMITS,
  formatInstant,
  instantOf,
  MAX_TTL_SECONDS,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { AttestationClaims, SignableChallenge } from "./attestation.ts";
import { validateSignableChallenge, type ValidChallenge } from "./challenge.ts";
import { chooseSubject, refuseToSign, signClaims } from "./sign_claims.ts";
import type { SigningKey } from "../keys/signing_key.ts";

/** What {@linkcode signAttestation} needs. */
export interface SignAttestationOptions {
  /** The challenge as the service sent it. */
  readonly challenge: SignableChallenge;
  /** The subject's key. */
  readonly key: SigningKey;
  /**
   * Who answers: a did:web whose document lists the key under
   * `authentication`, or the key's did:key (default). A challenge can't
   * choose it: a site must not learn a name by asking for it.
   */
  readonly subject?: string;
  /** The scopes to grant, among the challenge's (default: all of them). */
  readonly scopes?: readonly string[];
  /** The clock. */
  readonly now: () => Date;
}

/** What a person agrees to by signing. */
export interface AttestationPreview {
  /** The origin or DID that gets the answer, and can log the subject in. */
  readonly audience: string;
  /** The subject that is logged in. */
  readonly subject: string;
  /** What is granted, sorted; empty for nothing more. */
  readonly scopes: readonly string[];
  /** What the subject's relationship must meet; empty for nothing. */
  readonly require: readonly string[];
  /** RFC 3339 UTC: from then on the answer counts no more. */
  readonly expires_at: string;
}

/**
 * What {@linkcode signAttestation} would sign, judged in the same way: show it
 * before. It comes from the members that get signed, never from a text that was
 * sent along. Names are as they were sent: escape them for a terminal
 * (`escapeInvisible` of `@sig/core`).
 *
 * @example
 * ```ts
 * import {
 *   generateSigningKey,
 *   importSigningKey,
 *   previewAttestation,
 * } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const key = await importSigningKey(await generateSigningKey());
 * const { audience, scopes } = previewAttestation({
 *   challenge: {
 *     challenge_id: "c-1",
 *     audience: "https://shop.example",
 *     nonce: "n-1",
 *     scopes: ["profile"],
 *     issued_at: "2026-01-31T09:00:00Z",
 *     expires_at: "2026-01-31T09:05:00Z",
 *   },
 *   key,
 *   now: () => new Date("2026-01-31T09:00:00Z"),
 * });
 * assertEquals([audience, ...scopes], ["https://shop.example", "profile"]);
 * ```
 *
 * @throws {SigError} as {@linkcode signAttestation}.
 */
export function previewAttestation(
  options: SignAttestationOptions,
): AttestationPreview {
  return prepare(options).preview;
}

/**
 * Signs the answer to a login challenge: a compact JWS that names the audience,
 * the nonce and what is granted, and expires with the challenge. The caller
 * must have shown the user which site asks for what (see
 * {@linkcode previewAttestation}); check that `challenge.audience` is the site
 * that the challenge came from. (docs/protocol.md §7)
 *
 * A `message` must be what `describeChallenge` makes of the other members: else
 * a site that passes on another site's challenge could have a person read one
 * thing and sign another.
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
 *   issued_at: "2026-01-31T09:00:00Z",
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
 * @throws {SigError} `missing_field` and `invalid_field` for the challenge
 * (another `message` and a life that is not 30 to 900 s too),
 * `challenge_expired`, `scope_not_granted` for a scope that was not asked for,
 * `subject_mismatch` when the challenge is for another subject (a did:web that
 * was not asked for with `subject` too) or the did:key for another key, `unsupported_did_method`, `invalid_identifier`,
 * `invalid_attestation` when it would be longer than 8 KiB.
 */
export async function signAttestation(
  options: SignAttestationOptions,
): Promise<string> {
  const { claims, kid } = prepare(options);
  return await signClaims(claims, kid, options.key);
}

/** What gets signed, and the same for people: made at one place. */
function prepare(options: SignAttestationOptions): {
  readonly claims: AttestationClaims;
  readonly kid: string;
  readonly preview: AttestationPreview;
} {
  const challenge = validateSignableChallenge(options.challenge);
  const { audience, require, expiresAt } = challenge;
  const subject = chooseSubject(options, challenge.subject);
  const times = chooseTimes(options, challenge);
  const scopes = chooseScopes(options, challenge);
  return {
    claims: {
      iss: subject.did,
      sub: subject.did,
      aud: audience,
      nonce: challenge.nonce,
      jti: challenge.challengeId,
      ...times,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    },
    kid: subject.kid,
    preview: {
      audience,
      subject: subject.did,
      scopes,
      require,
      expires_at: formatInstant(expiresAt),
    },
  };
}

/** Whole seconds, rounded so that the token never outlives the challenge. */
function chooseTimes(
  { now }: SignAttestationOptions,
  { expiresAt }: ValidChallenge,
): { readonly iat: number; readonly exp: number } {
  const iat = instantOf(now()).seconds;
  const exp = expiresAt.seconds;
  if (iat >= exp) {
    throw refuseToSign(
      "challenge_expired",
      `the challenge expired at ${formatInstant(expiresAt)}`,
    );
  }
  // Its own issued_at is a claim; how long the answer counts from now is not.
  const most = MAX_TTL_SECONDS + DEFAULT_LIMITS.clockSkewSeconds;
  if (exp - iat <= most) return { iat, exp };
  throw new SigError(
    "invalid_field",
    `Cannot use challenge: /expires_at must lie at most ${most} s ahead`,
    {
      context: {
        pointer: "/expires_at",
        hint: "Check this machine's clock; else begin the login again.",
      },
    },
  );
}

function chooseScopes(
  { scopes }: SignAttestationOptions,
  challenge: ValidChallenge,
): readonly string[] {
  const granted = [...new Set(scopes ?? challenge.scopes)].sort();
  const extra = granted.find((scope) => !challenge.scopes.includes(scope));
  if (extra !== undefined) {
    throw refuseToSign(
      "scope_not_granted",
      `scope ${quote(extra)} was not asked for`,
    );
  }
  return granted;
}
