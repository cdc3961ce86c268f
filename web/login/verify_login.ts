/**
 * Verifies the answer to a login challenge (docs/protocol.md §7). The file is
 * long because its rules apply in a fixed order, which is readable from top to
 * bottom.
 *
 * @module
 */

import { readAs, strictObject } from "@sig/api/internal/schemas";
import {
  type ErrorCode,
  formatInstant,
  instantOf,
  isSigError,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  parseAttestation,
  type ParsedAttestation,
  verifyAttestation,
} from "@sig/jose";
import { equalInConstantTime } from "@sig/jose/internal";
import { z } from "zod";
import {
  type ChallengeRecord,
  type Challenges,
  type ChallengeState,
  isChallengeId,
} from "./challenges.ts";
import { SCOPES } from "./create_challenge.ts";
import { sha256Base64Url } from "../store/digest.ts";
import {
  type CheckRelationship,
  type LoginRelationship,
  requireRelationship,
} from "./relationship.ts";
import type { LoginKeyResolver } from "./subject_key.ts";

/** Options of {@linkcode verifyLogin}. */
export interface VerifyLoginOptions {
  /** The store of challenges. */
  readonly challenges: Challenges;
  /** The purpose that the challenge must be bound to (default: none). */
  readonly boundTo?: string | undefined;
  /**
   * Resolves the subject's key; share one `createSubjectKeys` among all logins.
   */
  readonly resolveKey: LoginKeyResolver;
  /** The client's network address, for the limits of `resolveKey`. */
  readonly client?: string | undefined;
  /**
   * The audiences of this login, since several logins may share a store and
   * must reject each other's attestations (default: every audience).
   */
  readonly audiences?: readonly string[];
  /** Checks the required relationship (default: none is required). */
  readonly checkRelationship?: CheckRelationship;
  /** Called after each verified login, for telemetry. */
  readonly onVerified?: (() => void) | undefined;
  /** The clock, which is read again after slow steps. */
  readonly now: () => Date;
}

/** A verified login. */
export interface VerifiedLogin {
  /** Always true; a failed verification is an error. */
  readonly verified: true;
  /** The DID of the person who logged in. */
  readonly subject: string;
  /** The origin or DID that the person logged in to. */
  readonly audience: string;
  /** The granted scopes, sorted. */
  readonly scopes: readonly string[];
  /** The id of the challenge, which is now used. */
  readonly challenge_id: string;
  /** The kid of the key that signed: a DID with a fragment. */
  readonly kid: string;
  /** Time at which the challenge was used, RFC 3339 UTC. */
  readonly verified_at: string;
  /** The relationship that allowed the login; null if none is required. */
  readonly relationship: LoginRelationship | null;
}

/**
 * Unknown members are rejected, so that a misspelt expectation is not ignored.
 */
const REQUEST = strictObject({
  attestation: z.string(),
  challenge_id: z.string().optional(),
  audience: z.string().optional(),
  nonce: z.string().optional(),
  scopes: SCOPES.optional(),
});
type LoginRequest = z.output<typeof REQUEST>;

/**
 * Verifies the body of `POST /v1/auth/attestation/verify`, `{attestation,
 * challenge_id?, audience?, nonce?, scopes?}`. The first failure is reported,
 * in the order of docs/protocol.md §7; each expectation of the caller is
 * checked directly after the server's check of the same member:
 *
 * 1. the request; size, syntax, header, claims of the attestation
 * 2. `challenge_id` as expected; the challenge is known, not used, not burned,
 *    not expired
 * 3. audience, then as expected; nonce, then as expected
 * 4. subject; scopes, then each expected one granted; times; key, signature
 * 5. relationship
 * 6. the attestation's expiry again, since keys and issuers may have been slow;
 *    the challenge is consumed atomically if it is still open
 *
 * Failures in 4, a deny in 5 and an expired attestation in 6 count against the
 * challenge, except errors of the categories `usage`, `unavailable` and
 * `internal`, and errors that prevent a query to the issuer. Other failures do
 * not count, so that an attacker without the nonce can't burn a challenge. If
 * counting fails, that error is reported; otherwise attempts would be unlimited
 * while the store is unavailable.
 *
 * @example
 * ```ts
 * import {
 *   challengesIn,
 *   createChallenge,
 *   createMemoryStore,
 *   createSubjectKeys,
 *   verifyLogin,
 * } from "@sig/web";
 * import {
 *   generateSigningKey,
 *   importSigningKey,
 *   jwkToDidKey,
 *   signAttestation,
 * } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const challenges = challengesIn(createMemoryStore());
 * const now = () => new Date("2026-01-31T09:00:00Z");
 * const audiences = ["https://shop.example"];
 * const challenge = await createChallenge({}, { challenges, audiences, now });
 *
 * const key = await importSigningKey(await generateSigningKey());
 * const attestation = await signAttestation({ challenge, key, now });
 *
 * const resolveKey = createSubjectKeys();
 * const login = await verifyLogin(
 *   { attestation },
 *   { challenges, resolveKey, now },
 * );
 * assertEquals(login.subject, jwkToDidKey(key.publicJwk));
 * ```
 *
 * @throws {SigError} `invalid_request`; the codes of `parseAttestation`;
 * `invalid_attestation` (another challenge than expected);
 * `challenge_not_found`, `challenge_used`, `challenge_burned`,
 * `challenge_expired`; `audience_mismatch`, `nonce_mismatch`,
 * `subject_mismatch`, `scope_not_granted`, `attestation_time_invalid`; the
 * codes of `resolveKey`; `attestation_signature_invalid`; the codes of
 * `checkRelationship`, `relationship_denied`; `store_unavailable`.
 */
export async function verifyLogin(
  input: unknown,
  options: VerifyLoginOptions,
): Promise<VerifiedLogin> {
  const { challenges, now } = options;
  const request = readAs(REQUEST, input);
  const parsed = parseAttestation(request.attestation);
  const at = now();
  const record = await findChallenge(parsed, request, options, at);
  requireAudience(parsed, request, record, options.audiences);
  requireNonce(parsed, request, record);

  // From here on, the caller has proved that it knows the nonce.
  const id = record.challenge_id;
  const counted = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (isCounted(error)) await challenges.countFailure(id, now());
      throw error;
    }
  };
  await counted(() =>
    verifyAttestation(parsed, {
      // The nonce was already compared by its digest; the store has only that.
      challenge: { ...record, nonce: parsed.claims.nonce },
      requiredScopes: request.scopes ?? [],
      key: (kid) => options.resolveKey(kid, options.client, id),
      now: () => at,
    })
  );
  const { subject, scopes, header } = parsed;
  const answer = await options.checkRelationship?.(subject, now());
  const relationship = answer === undefined
    ? null
    : await counted(() => requireRelationship(answer, subject));

  // The steps before may have been slow, so the clock is read again.
  const usedAt = now();
  if (!(usedAt.getTime() < parsed.claims.exp * 1000)) {
    // A challenge that was closed in the meantime is reported first, as
    // everywhere (docs/protocol.md §7).
    const { state } = await challenges.read(id, usedAt);
    if (state !== "issued") throw closed(state);
    await counted(() => {
      throw refuse(
        "attestation_time_invalid",
        "it expired during the verification",
      );
    });
  }
  const consumption = await challenges.consume(id, usedAt);
  if (consumption !== "consumed") throw closed(consumption);
  options.onVerified?.();
  return {
    verified: true,
    subject,
    audience: record.audience,
    scopes,
    challenge_id: id,
    kid: header.kid,
    verified_at: formatInstant(instantOf(usedAt)),
    relationship,
  };
}

/**
 * Reads the challenge. The store checks in this order: known, not used, not
 * burned, not expired.
 */
async function findChallenge(
  { claims }: ParsedAttestation,
  { challenge_id }: LoginRequest,
  { challenges, boundTo }: VerifyLoginOptions,
  at: Date,
): Promise<ChallengeRecord> {
  const id = claims.jti;
  if (challenge_id !== undefined && challenge_id !== id) throw another();
  // The store is not queried for texts that can't be an id, whatever their
  // length.
  if (!isChallengeId(id)) throw closed("not_found");
  const reading = await challenges.read(id, at);
  if (reading.state !== "issued") throw closed(reading.state);
  // An answer that is bound to one sign-in must not complete another.
  if (reading.record.bound_to !== boundTo) throw another();
  return reading.record;
}

function another(): SigError {
  return refuse(
    "invalid_attestation",
    "it answers another challenge than the one expected",
  );
}

/** Rejects an attestation that was made for another site. */
function requireAudience(
  { claims }: ParsedAttestation,
  { audience }: LoginRequest,
  record: ChallengeRecord,
  audiences: readonly string[] = [record.audience],
): void {
  if (claims.aud !== record.audience || !audiences.includes(claims.aud)) {
    throw refuse("audience_mismatch", "it is for another audience");
  }
  if (audience !== undefined && audience !== claims.aud) {
    throw refuse(
      "audience_mismatch",
      `it is for ${quote(claims.aud)}, not for the audience expected`,
    );
  }
}

function requireNonce(
  { claims }: ParsedAttestation,
  { nonce }: LoginRequest,
  record: ChallengeRecord,
): void {
  const digest = sha256Base64Url(claims.nonce);
  if (!equalInConstantTime(digest, record.nonce_sha256)) {
    throw refuse("nonce_mismatch", "it has another nonce");
  }
  if (
    nonce !== undefined &&
    !equalInConstantTime(sha256Base64Url(nonce), digest)
  ) {
    throw refuse(
      "nonce_mismatch",
      "it has another nonce than the one expected",
    );
  }
}

/** Whether an error counts as a failed attempt at the challenge. */
function isCounted(error: unknown): boolean {
  return isSigError(error) && error.category !== "usage" &&
    error.category !== "unavailable" && error.category !== "internal";
}

const CLOSED: Readonly<
  Record<Exclude<ChallengeState, "issued">, readonly [ErrorCode, string]>
> = {
  not_found: [
    "challenge_not_found",
    "its challenge is unknown, or was removed",
  ],
  used: ["challenge_used", "its challenge has been used"],
  burned: ["challenge_burned", "its challenge failed too often"],
  expired: ["challenge_expired", "its challenge has expired"],
};

function closed(state: Exclude<ChallengeState, "issued">): SigError {
  const [code, why] = CLOSED[state];
  return refuse(code, why, "Create a new challenge and sign that.");
}

function refuse(code: ErrorCode, why: string, hint?: string): SigError {
  return new SigError(code, {
    action: "accept attestation",
    reason: why,
    ...(hint === undefined ? {} : { context: { hint } }),
  });
}
