/** Signing of answers to login challenges (docs/protocol.md §7). @module */

import {
  ATTESTATION_TYP,
  DEFAULT_LIMITS,
  type ErrorCode,
  formatInstant,
  instantOf,
  MAX_TTL_SECONDS,
  parseDidWeb,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  type AttestationClaims,
  MAX_ATTESTATION_LENGTH,
  type SignableChallenge,
} from "./attestation.ts";
import { validateSignableChallenge, type ValidChallenge } from "./challenge.ts";
import type { SigningKey } from "../keys/signing_key.ts";
import { jwkToDidKey } from "../keys/did_key.ts";
import { signCompactJws } from "../event/jws.ts";

/** Options of {@linkcode signAttestation}. */
export interface SignAttestationOptions {
  /** The challenge as the service sent it. */
  readonly challenge: SignableChallenge;
  /** The subject's key. */
  readonly key: SigningKey;
  /**
   * The DID that answers: a did:web whose document lists the key under
   * `authentication`, or the key's did:key (default). The challenge does not
   * select it, because a site must not learn a name by requesting it.
   */
  readonly subject?: string;
  /** The scopes to grant (default: all of the challenge's). */
  readonly scopes?: readonly string[];
  /** Returns the current time. */
  readonly now: () => Date;
}

/** The content of an attestation, for the person who signs it. */
export interface AttestationPreview {
  /** The origin or DID that receives the answer and can log the subject in. */
  readonly audience: string;
  /** The subject that is logged in. */
  readonly subject: string;
  /** The granted scopes, sorted; empty for none. */
  readonly scopes: readonly string[];
  /** The requirements on the subject's relationship; empty for none. */
  readonly require: readonly string[];
  /** End of the attestation: RFC 3339 UTC. */
  readonly expires_at: string;
}

/**
 * Returns what {@linkcode signAttestation} would sign, after the same checks;
 * show it before signing. It is built from the signed members, never from the
 * challenge's `message`. Names are not escaped: use `escapeInvisible` of
 * `@sig/core` for a terminal.
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
 * Signs the answer to a login challenge: a compact JWS with the audience, the
 * nonce and the granted scopes, which expires with the challenge. Before
 * calling it, show the user which site requests what (see {@linkcode
 * previewAttestation}), and check that `challenge.audience` is the site that
 * sent the challenge (docs/protocol.md §7).
 *
 * A `message` must be the text that `describeChallenge` builds from the other
 * members. Otherwise a site that relays another site's challenge could show one
 * text and have another one signed.
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
 * (also for another `message`, or a validity outside 30 to 900 s),
 * `challenge_expired`, `scope_not_granted` for a scope that the challenge does
 * not contain, `subject_mismatch` if the challenge is for another subject (also
 * for a did:web that is not in `subject`) or the did:key is that of another
 * key, `unsupported_did_method`, `invalid_identifier`, `invalid_attestation` if
 * it would be longer than 8 KiB.
 */
export async function signAttestation(
  options: SignAttestationOptions,
): Promise<string> {
  const { claims, kid } = prepare(options);
  return await signClaims(claims, kid, options.key);
}

/** Builds the claims and their preview together, so that they agree. */
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

/** Returns whole seconds; the token never outlives the challenge. */
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
  // The challenge's issued_at can be false, so the remaining time is also
  // limited by the local clock.
  const most = MAX_TTL_SECONDS + DEFAULT_LIMITS.clockSkewSeconds;
  if (exp - iat <= most) return { iat, exp };
  throw new SigError("invalid_field", {
    action: "use challenge",
    reason: `/expires_at must lie at most ${most} s ahead`,
    context: {
      pointer: "/expires_at",
      hint: "Check this machine's clock; else begin the login again.",
    },
  });
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

/** Creates the error of a refusal to sign an attestation. */
function refuseToSign(
  code: ErrorCode,
  why: string,
  hint?: string,
): SigError {
  return new SigError(code, {
    action: "sign attestation",
    reason: why,
    context: hint === undefined ? {} : { hint },
  });
}

/**
 * Returns the subject's DID and the kid of its key there.
 *
 * @param asked The only DID that may answer; undefined for anyone.
 * @throws {SigError} `subject_mismatch`, `unsupported_did_method`,
 * `invalid_identifier`.
 */
export function chooseSubject(
  { subject, key }: Pick<SignAttestationOptions, "key" | "subject">,
  asked?: string,
): { readonly did: string; readonly kid: string } {
  const didKey = jwkToDidKey(key.publicJwk);
  const did = subject ?? didKey;
  if (asked !== undefined && asked !== did) {
    throw refuseToSign(
      "subject_mismatch",
      `the challenge is for ${quote(asked)}, not ${quote(did)}`,
      "Name it as the subject (sig attest --subject) if it is yours and this site may know.",
    );
  }
  if (did === didKey) {
    return { did, kid: `${did}#${did.slice("did:key:".length)}` };
  }
  if (did.startsWith("did:key:")) {
    throw refuseToSign(
      "subject_mismatch",
      `${quote(did)} is another key than ${quote(didKey)}`,
    );
  }
  if (!did.startsWith("did:web:")) {
    throw refuseToSign(
      "unsupported_did_method",
      `${quote(did)} is neither a did:key nor a did:web`,
    );
  }
  // Only the form is checked; the verifier decides whether a private host is
  // allowed.
  parseDidWeb(did, { allowPrivate: true });
  return { did, kid: `${did}#${key.kid}` };
}

/**
 * Signs claims as a compact JWS.
 *
 * @throws {SigError} `invalid_attestation` when it would be longer than 8 KiB.
 */
export async function signClaims(
  claims: AttestationClaims,
  kid: string,
  key: SigningKey,
): Promise<string> {
  const header = { alg: "EdDSA", typ: ATTESTATION_TYP, kid };
  const jwt = await signCompactJws(header, claims, key);
  if (jwt.length <= MAX_ATTESTATION_LENGTH) return jwt;
  throw refuseToSign(
    "invalid_attestation",
    `it would be longer than ${MAX_ATTESTATION_LENGTH} characters`,
  );
}
