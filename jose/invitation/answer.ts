/** Verification of invitations, and their answers (docs/protocol.md §9). @module */

import { DEFAULT_LIMITS, instantOf, SigError } from "@sig/core";
import { isObject, member, quote } from "@sig/core/internal";
import {
  malformed,
  type ParsedInvitation,
  parseInvitation,
} from "./invitation.ts";
import {
  type AttestationChallenge,
  ENROL_SCOPE,
  type ParsedAttestation,
} from "../attestation/attestation.ts";
import { chooseSubject, signClaims } from "../attestation/sign_attestation.ts";
import {
  type AttestationKeyResolver,
  verifyAttestation,
} from "../attestation/verify_attestation.ts";
import { encodeBase64Url } from "../bytes/bytes.ts";
import { sha256 } from "../bytes/sha256.ts";
import type { SigningKey } from "../keys/signing_key.ts";
import { type KeyResolver, resolveCurrent } from "../keys/key_resolver.ts";

/** A person's answer to an invitation, as JSON for the operator. */
export interface InvitationAnswer {
  /** The invitation, unchanged. */
  readonly invitation: string;
  /** An attestation (docs/protocol.md §7) that answers only this invitation. */
  readonly attestation: string;
}

/** Options of {@linkcode answerInvitation}. */
export interface AnswerInvitationOptions {
  /** The invitation. Verify it first, and show its content to the person. */
  readonly invitation: string | ParsedInvitation;
  /** The person's key. */
  readonly key: SigningKey;
  /**
   * The DID that answers and will be published: a did:web whose document lists
   * the key under `authentication`, or the key's did:key (default).
   */
  readonly subject?: string;
  /** Returns the current time. */
  readonly now: () => Date;
}

/** Options of {@linkcode verifyAnswer}. */
export interface VerifyAnswerOptions extends VerifyInvitationOptions {
  /** Resolves the subject's key (default: `resolveDidKey`). */
  readonly key?: AttestationKeyResolver;
}

/** A verified answer. */
export interface VerifiedAnswer {
  /** The invitation. */
  readonly invitation: ParsedInvitation;
  /** The DID for the relationship; its key signed the answer. */
  readonly subject: string;
  /** The verified attestation. */
  readonly attestation: ParsedAttestation;
}

/**
 * Answers an invitation. The answer proves possession of the key, to this
 * issuer and for this invitation only. It is never valid as a login, because
 * its nonce is the digest of the invitation. See `createInvitation` for an
 * example (docs/protocol.md §9).
 *
 * @throws {SigError} `invalid_invitation`, `invitation_expired`;
 * `subject_mismatch`, `unsupported_did_method`, `invalid_identifier` for the
 * subject; `invalid_attestation` when it would be longer than 8 KiB.
 */
export async function answerInvitation(
  options: AnswerInvitationOptions,
): Promise<InvitationAnswer> {
  const invitation = typeof options.invitation === "object"
    ? options.invitation
    : parseInvitation(options.invitation);
  const now = options.now();
  requireUnexpired(invitation, now);
  const { did, kid } = chooseSubject(options);
  const { challenge_id, audience, nonce } = challengeOf(invitation);
  const claims = {
    iss: did,
    sub: did,
    aud: audience,
    nonce,
    jti: challenge_id,
    iat: instantOf(now).seconds,
    exp: invitation.claims.exp,
    scope: ENROL_SCOPE,
  };
  const attestation = await signClaims(claims, kid, options.key);
  return { invitation: invitation.text, attestation };
}

/**
 * Verifies an answer: first the invitation, then the attestation
 * (docs/protocol.md §9). It keeps no state: the feed enforces single use,
 * because its event ids are unique (`enrol` of `@sig/issuer`). See
 * `createInvitation` for an example. Other members are ignored.
 *
 * @param answer Parsed JSON; parse it with core's strict `parseJson`.
 *
 * @throws {SigError} as {@linkcode verifyInvitation}; then what
 * `verifyAttestation` throws: `invalid_attestation` (also for another
 * invitation), `audience_mismatch`, `nonce_mismatch`, `subject_mismatch`,
 * `scope_not_granted`, `attestation_time_invalid`,
 * `attestation_signature_invalid`, and the errors of the key resolver.
 */
export async function verifyAnswer(
  answer: unknown,
  options: VerifyAnswerOptions,
): Promise<VerifiedAnswer> {
  const given = readAnswer(answer);
  const invitation = await verifyInvitation(given.invitation, options);
  if (typeof given.attestation !== "string") {
    throw new SigError("invalid_attestation", {
      action: "read answer",
      reason: "member attestation must be a string",
      context: { pointer: "/attestation" },
    });
  }
  const attestation = await verifyAttestation(given.attestation, {
    challenge: challengeOf(invitation),
    now: options.now,
    // Rejects an attestation that grants no scope.
    requiredScopes: [ENROL_SCOPE],
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.clockSkewSeconds === undefined
      ? {}
      : { clockSkewSeconds: options.clockSkewSeconds }),
  });
  return { invitation, subject: attestation.subject, attestation };
}

function readAnswer(
  answer: unknown,
): { readonly invitation: string; readonly attestation: unknown } {
  if (!isObject(answer)) throw malformed("the answer must be one JSON object");
  const invitation = member(answer, "invitation");
  if (typeof invitation !== "string") {
    throw malformed("member invitation must be a string", "/invitation");
  }
  return { invitation, attestation: member(answer, "attestation") };
}

/**
 * Returns the challenge that an attestation of an invitation answers. The
 * digest binds the answer to these terms, even if two invitations share a
 * `jti`.
 */
function challengeOf(
  { text, claims, expires_at }: ParsedInvitation,
): AttestationChallenge {
  return {
    challenge_id: claims.jti,
    audience: claims.iss,
    nonce: encodeBase64Url(sha256(new TextEncoder().encode(text))),
    scopes: [ENROL_SCOPE],
    expires_at,
  };
}

/** Options of {@linkcode verifyInvitation}. */
export interface VerifyInvitationOptions {
  /** The DID of the expected issuer, to which the keys belong. */
  readonly issuer: string;
  /** The keys that may sign the issuer's events. */
  readonly keys: KeyResolver;
  /** Returns the current time. */
  readonly now: () => Date;
  /** Tolerated difference between clocks in seconds (default: 60). */
  readonly clockSkewSeconds?: number;
}

/**
 * Verifies an invitation with the keys of its issuer, in the order of
 * docs/protocol.md §9: form, key, signature, time. Single use is enforced by
 * the feed. See `createInvitation` for an example.
 *
 * @throws {SigError} `invalid_invitation` (its form; another issuer's; its
 * `iat` is more than 60 s in the future), `key_not_found`, `key_not_authorized`,
 * `signature_invalid`, `invitation_expired`.
 */
export async function verifyInvitation(
  invitation: string | ParsedInvitation,
  options: VerifyInvitationOptions,
): Promise<ParsedInvitation> {
  const parsed = typeof invitation === "object"
    ? invitation
    : parseInvitation(invitation);
  const { claims, header: { kid }, signature, signingInput } = parsed;
  if (claims.iss !== options.issuer) {
    throw malformed(
      `it is one of ${quote(claims.iss)}, not of ${quote(options.issuer)}`,
      "/iss",
    );
  }
  const key = resolveCurrent(options.keys, kid);
  if (!await key.verify(signature, signingInput)) {
    throw new SigError("signature_invalid", {
      action: "accept invitation",
      reason: `its signature is not one of key ${quote(kid)}`,
      context: { kid },
    });
  }
  requireTime(parsed, options);
  return parsed;
}

/**
 * Requires that an invitation has not expired, for a reader that has no keys to
 * verify it.
 *
 * @throws {SigError} `invitation_expired`.
 */
export function requireUnexpired(
  { claims, expires_at }: ParsedInvitation,
  now: Date,
): void {
  if (instantOf(now).seconds < claims.exp) return;
  throw new SigError("invitation_expired", {
    action: "accept invitation",
    reason: `it expired at ${expires_at}`,
    context: { hint: "Ask for a new invitation." },
  });
}

function requireTime(
  parsed: ParsedInvitation,
  { now, clockSkewSeconds }: VerifyInvitationOptions,
): void {
  const instant = now();
  requireUnexpired(parsed, instant);
  const skew = clockSkewSeconds ?? DEFAULT_LIMITS.clockSkewSeconds;
  if (parsed.claims.iat <= instantOf(instant).seconds + skew) return;
  throw malformed(
    `its iat is more than ${skew} s in the future; one of the two clocks is wrong`,
    "/iat",
  );
}
