/** Creates login challenges (docs/protocol.md §7). @module */

import {
  eachOnce,
  integer,
  list,
  readAs,
  requires,
  strictObject,
} from "@sig/api/internal/schemas";
import {
  addSeconds,
  formatInstant,
  instantOf,
  isSigError,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
  parseDidWeb,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  describeChallenge,
  type DescribedChallenge,
  didKeyToJwk,
  ENROL_SCOPE,
  isScopeToken,
  MAX_SCOPES,
} from "@sig/jose";
import { z } from "zod";
import type { Challenges } from "./challenges.ts";
import { randomText, sha256Base64Url } from "../store/digest.ts";

/** 192 bits are 32 characters, as `isChallengeId` requires. */
const ID_BYTES = 24;
const NONCE_BYTES = 32;

/** Default lifetime of a challenge in seconds. */
export const DEFAULT_TTL_SECONDS = 300;

/** A login challenge, as sent to the client. */
export interface Challenge extends DescribedChallenge {
  /** A description of the challenge, to show before the person signs. */
  readonly message: string;
}

/**
 * Maximum length of a scope in characters, so that 32 scopes fit in an
 * attestation and 100,000 challenges in memory.
 */
const MAX_SCOPE_LENGTH = 128;

/** Schema of a list of unique scope tokens. */
export const SCOPES: z.ZodType<readonly string[]> = list(
  z.string().max(MAX_SCOPE_LENGTH).check(
    requires((scope) =>
      isScopeToken(scope)
        ? undefined
        : "it must be a scope token: printable ASCII without space, quote and backslash"
    ),
  ),
  0,
  MAX_SCOPES,
).check(eachOnce);

/** Options of {@linkcode createChallenge}. */
export interface CreateChallengeOptions {
  /** The store of challenges, which keeps a digest instead of the nonce. */
  readonly challenges: Challenges;
  /**
   * The client's network address, for its quota of challenges (default: no
   * quota).
   */
  readonly client?: string | undefined;
  /** The only purpose that the answer is valid for (default: any login). */
  readonly boundTo?: string | undefined;
  /**
   * The origins or DIDs that people log in to; the first one is the default.
   */
  readonly audiences: readonly string[];
  /** Requirements of the login, for display only (default: none). */
  readonly require?: readonly string[] | null;
  /** Lifetime in seconds if the request contains none (default: 300). */
  readonly defaultTtlSeconds?: number | undefined;
  /**
   * Allows did:web subjects at IP addresses and local names; for tests only
   * (default: false).
   */
  readonly allowPrivate?: boolean;
  /** The clock, for `issued_at` and for the expiry of records. */
  readonly now: () => Date;
}

/**
 * Creates and stores a challenge from the body of `POST
 * /v1/auth/challenge/create`, `{audience?, scopes?, subject?, ttl_seconds?}`.
 * Unknown members, null values, and lifetimes outside of 30 to 900 seconds are
 * rejected, not corrected. A scope has at most 128 characters.
 *
 * All errors of form are reported together; then the subject is checked, then
 * the audience.
 *
 * @example
 * ```ts
 * import { challengesIn, createChallenge, createMemoryStore } from "@sig/web";
 * import { assertEquals } from "@std/assert";
 *
 * const challenge = await createChallenge({ scopes: ["profile", "email"] }, {
 *   challenges: challengesIn(createMemoryStore()),
 *   audiences: ["https://shop.example"],
 *   now: () => new Date("2026-01-31T09:00:00Z"),
 * });
 * assertEquals(challenge.audience, "https://shop.example");
 * assertEquals(challenge.scopes, ["email", "profile"]);
 * assertEquals(challenge.expires_at, "2026-01-31T09:05:00Z");
 * ```
 *
 * @throws {SigError} `invalid_request` with `context.errors`, also for the
 * scope `enrol` with a DID as the audience; `invalid_identifier`,
 * `unsupported_did_method`, `address_not_allowed` for the subject;
 * `audience_not_allowed`; `rate_limited` (with `context.retry_after_seconds`)
 * and `store_unavailable` from the store.
 * @throws {RangeError} for invalid options.
 */
export async function createChallenge(
  input: unknown,
  options: CreateChallengeOptions,
): Promise<Challenge> {
  const asked = readRequest(input, options);
  const at = options.now();
  const issued = instantOf(at);
  const bare = {
    challenge_id: randomText(ID_BYTES),
    audience: asked.audience,
    nonce: randomText(NONCE_BYTES),
    scopes: asked.scopes,
    subject: asked.subject,
    require: options.require ?? null,
    issued_at: formatInstant(issued),
    expires_at: formatInstant(addSeconds(issued, asked.ttlSeconds)),
  };
  const { nonce, require: _require, issued_at: _issued, ...kept } = bare;
  const { boundTo, client } = options;
  await options.challenges.create(
    {
      ...kept,
      nonce_sha256: sha256Base64Url(nonce),
      ...(boundTo === undefined ? {} : { bound_to: boundTo }),
    },
    at,
    client,
  );
  return { ...bare, message: describeChallenge(bare) };
}

/**
 * Unknown members are rejected, since a misspelt `subject` would create a
 * challenge that anybody may answer.
 */
const REQUEST = strictObject({
  audience: z.string().optional(),
  scopes: SCOPES.optional(),
  subject: z.string().optional(),
  ttl_seconds: integer(MIN_TTL_SECONDS, MAX_TTL_SECONDS).optional(),
});

function readRequest(input: unknown, options: CreateChallengeOptions) {
  const { audiences } = options;
  const defaultTtl = options.defaultTtlSeconds ?? DEFAULT_TTL_SECONDS;
  requireTtl(defaultTtl);
  const {
    audience = audiences[0],
    scopes = [],
    subject = null,
    ttl_seconds: ttlSeconds = defaultTtl,
  } = readAs(REQUEST, input);
  if (subject !== null) requireSubject(subject, options.allowPrivate ?? false);
  if (audience === undefined) {
    throw new RangeError("Cannot create challenge: no audience is configured");
  }
  if (!audiences.includes(audience)) throw audienceNotAllowed(audience);
  requireNoEnrolment(audience, scopes);
  return { audience, scopes: scopes.toSorted(), subject, ttlSeconds };
}

function requireTtl(seconds: number): void {
  if (
    Number.isInteger(seconds) && seconds >= MIN_TTL_SECONDS &&
    seconds <= MAX_TTL_SECONDS
  ) return;
  throw new RangeError(
    `Cannot create challenges: defaultTtlSeconds must be a whole number from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}, current value is ${seconds}`,
  );
}

/**
 * Rejects a scope that signers refuse: with a DID as the audience it is for
 * enrolment.
 */
function requireNoEnrolment(audience: string, scopes: readonly string[]): void {
  const index = scopes.indexOf(ENROL_SCOPE);
  if (index < 0 || !audience.startsWith("did:")) return;
  const pointer = `/scopes/${index}`;
  const detail =
    `it must not be ${ENROL_SCOPE}, which is for answers to invitations, where the audience is a DID`;
  throw new SigError("invalid_request", {
    action: "create challenge",
    reason: `${pointer}: ${detail}`,
    context: { errors: [{ pointer, code: "invalid_field", detail }] },
  });
}

function audienceNotAllowed(audience: string): SigError {
  return new SigError("audience_not_allowed", {
    action: "create challenge",
    reason: `this server is not configured for audience ${quote(audience)}`,
    context: {
      pointer: "/audience",
      hint:
        "Leave audience out, or name one that the server was started with (--audience), character by character.",
    },
  });
}

/** Maximum length of a subject in characters (docs/protocol.md §8). */
const MAX_SUBJECT_LENGTH = 512;

/**
 * Checks that a DID can log in: a did:key of an Ed25519 key, or a did:web.
 *
 * @throws {SigError} `invalid_identifier`, `unsupported_did_method`;
 * `address_not_allowed` for the did:web of an IP address or a local name,
 * unless `allowPrivate`.
 */
function requireSubject(did: string, allowPrivate: boolean): void {
  try {
    if (did.length > MAX_SUBJECT_LENGTH) {
      throw malformed(
        did,
        `it is longer than ${MAX_SUBJECT_LENGTH} characters`,
      );
    }
    if (did.startsWith("did:key:")) didKeyToJwk(did);
    else if (/^did:[a-z0-9]+:/.test(did)) parseDidWeb(did, { allowPrivate });
    else throw malformed(did, "it must be a did:key or did:web");
  } catch (error) {
    if (!isSigError(error)) throw error;
    // An invalid key in the DID is an error of the request.
    const code = error.code === "invalid_key"
      ? "invalid_identifier"
      : error.code;
    throw new SigError(code, {
      action: error.action,
      reason: error.reason,
      context: { ...error.context, pointer: "/subject" },
      cause: error,
    });
  }
}

function malformed(did: string, why: string): SigError {
  return new SigError("invalid_identifier", {
    action: `use ${quote(did)}`,
    reason: why,
  });
}
