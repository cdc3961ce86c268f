/**
 * Verifies the answer to a login challenge (docs/protocol.md §7). Long because its rules
 * have one order, which is read from top to bottom.
 *
 * @module
 */

import { readAs, strictObject } from "@sig/api/schemas";
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
import { sha256Base64Url } from "./digest.ts";
import {
  type CheckRelationship,
  type LoginRelationship,
  requireRelationship,
} from "./relationship.ts";
import type { LoginKeyResolver } from "./subject_key.ts";

/** What {@linkcode verifyLogin} works with. */
export interface VerifyLoginOptions {
  /** Where the challenge is stored. */
  readonly challenges: Challenges;
  /** What the challenge must be bound to (default: nothing, as any login). */
  readonly boundTo?: string | undefined;
  /** Finds the subject's key: one `createSubjectKeys` for all logins. */
  readonly resolveKey: LoginKeyResolver;
  /** The client's network address, for the limits of `resolveKey`. */
  readonly client?: string | undefined;
  /**
   * Whom a login may be for here: several logins may share a store, and what was
   * signed for one must not log in at another (default: every audience).
   */
  readonly audiences?: readonly string[];
  /** The relationship that is required; without it everybody may log in. */
  readonly checkRelationship?: CheckRelationship;
  /** Called when a login was verified, for telemetry. */
  readonly onVerified?: (() => void) | undefined;
  /** The clock; asked again after whatever may take long. */
  readonly now: () => Date;
}

/** A login that was verified. */
export interface VerifiedLogin {
  /** Always true; what is not verified is an error. */
  readonly verified: true;
  /** The DID of who logged in. */
  readonly subject: string;
  /** The origin or DID that they logged in to. */
  readonly audience: string;
  /** What was granted, sorted. */
  readonly scopes: readonly string[];
  /** The challenge, which is used now. */
  readonly challenge_id: string;
  /** The key that signed: a DID with a fragment. */
  readonly kid: string;
  /** RFC 3339 UTC; when the challenge was used. */
  readonly verified_at: string;
  /** What it was allowed by, or null where nothing is required. */
  readonly relationship: LoginRelationship | null;
}

/** What the caller sends and expects: a misspelt expectation must not be dropped. */
const REQUEST = strictObject({
  attestation: z.string(),
  challenge_id: z.string().optional(),
  audience: z.string().optional(),
  nonce: z.string().optional(),
  scopes: SCOPES.optional(),
});
type LoginRequest = z.output<typeof REQUEST>;

/**
 * Judges the body of `POST /v1/auth/attestation/verify`, `{attestation,
 * challenge_id?, audience?, nonce?, scopes?}`. The first failure wins, in the
 * order of docs/protocol.md §7; what the caller expects is judged directly after our
 * own check of the same thing:
 *
 * 1. the request; size, syntax, header, claims of the attestation
 * 2. `challenge_id` as expected; known, not used, not burned, not expired
 * 3. audience, then as expected; nonce, then as expected
 * 4. subject; scopes, then each expected one granted; times; key, signature
 * 5. relationship
 * 6. the attestation's time again, since keys and issuers may have taken long;
 *    the challenge is used, atomically, if it is still open
 *
 * Failures of 4, a deny in 5 and an attestation that is over in 6 count against
 * the challenge, but none of the categories `usage`, `unavailable` and
 * `internal`, and none of the errors that keep the issuer from being asked.
 * Nothing else counts: without the nonce nobody can spoil a login. When
 * counting fails, that is the error: else attempts would be free while the store
 * is away.
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
 * @throws {SigError} `invalid_request`; whatever `parseAttestation` throws;
 * `invalid_attestation` (another challenge than expected);
 * `challenge_not_found`, `challenge_used`, `challenge_burned`,
 * `challenge_expired`; `audience_mismatch`, `nonce_mismatch`,
 * `subject_mismatch`, `scope_not_granted`, `attestation_time_invalid`; whatever
 * `resolveKey` throws; `attestation_signature_invalid`; whatever
 * `checkRelationship` throws, `relationship_denied`; `store_unavailable`.
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

  // From here on the caller knows the nonce.
  const id = record.challenge_id;
  await counted(challenges, id, now, () =>
    verifyAttestation(parsed, {
      // The nonce was compared by its digest: the store knows no other.
      challenge: { ...record, nonce: parsed.claims.nonce },
      requiredScopes: request.scopes ?? [],
      key: (kid) => options.resolveKey(kid, options.client),
      now: () => at,
    }));
  const { subject, scopes, header } = parsed;
  const answer = await options.checkRelationship?.(subject, now());
  const relationship = answer === undefined
    ? null
    : await counted(challenges, id, now, () =>
      requireRelationship(answer, subject));

  // What came before may have taken long: the clock is asked again.
  const usedAt = now();
  if (!(usedAt.getTime() < parsed.claims.exp * 1000)) {
    await requireOpen(challenges, id, usedAt);
    await counted(challenges, id, now, () => {
      throw refuse(
        "attestation_time_invalid",
        "it has expired while it was judged",
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

/** Known, not used, not burned, not expired: the store judges in this order. */
async function findChallenge(
  { claims }: ParsedAttestation,
  { challenge_id }: LoginRequest,
  { challenges, boundTo }: VerifyLoginOptions,
  at: Date,
): Promise<ChallengeRecord> {
  const id = claims.jti;
  if (challenge_id !== undefined && challenge_id !== id) throw another();
  // What can't be an id is not carried to a store, whatever its length.
  if (!isChallengeId(id)) throw closed("not_found");
  const reading = await challenges.read(id, at);
  if (reading.state !== "issued") throw closed(reading.state);
  // An answer for one sign-in must not finish another one, nor the reverse.
  if (reading.record.bound_to !== boundTo) throw another();
  return reading.record;
}

function another(): SigError {
  return refuse(
    "invalid_attestation",
    "it answers another challenge than the one expected",
  );
}

/** What closed meanwhile is reported first, as everywhere (docs/protocol.md §7). */
async function requireOpen(
  challenges: Challenges,
  id: string,
  at: Date,
): Promise<void> {
  const { state } = await challenges.read(id, at);
  if (state !== "issued") throw closed(state);
}

/** An attestation that was given to another site must not log in here. */
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

/** Does the work; counts its failure when that says something of the attempt. */
async function counted<T>(
  challenges: Challenges,
  id: string,
  now: () => Date,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isCounted(error)) await challenges.countFailure(id, now());
    throw error;
  }
}

function isCounted(error: unknown): boolean {
  return isSigError(error) && error.category !== "usage" &&
    error.category !== "unavailable" && error.category !== "internal";
}

const CLOSED: Readonly<
  Record<Exclude<ChallengeState, "issued">, readonly [ErrorCode, string]>
> = {
  not_found: ["challenge_not_found", "its challenge is not known (any more)"],
  used: ["challenge_used", "its challenge has been used"],
  burned: ["challenge_burned", "its challenge failed too often"],
  expired: ["challenge_expired", "its challenge has expired"],
};

function closed(state: Exclude<ChallengeState, "issued">): SigError {
  const [code, why] = CLOSED[state];
  return refuse(code, why, "Create a new challenge and sign that.");
}

function refuse(code: ErrorCode, why: string, hint?: string): SigError {
  return new SigError(code, `Cannot accept attestation: ${why}`, {
    ...(hint === undefined ? {} : { context: { hint } }),
  });
}
