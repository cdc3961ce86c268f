/** Validation and texts of login challenges (docs/protocol.md §7.1). @module */

import {
  type ErrorCode,
  escapeInvisible,
  type Instant,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
  type OpenObject,
  SigError,
} from "@sig/core";
import { Fields, isIdentifier, isObject, member } from "@sig/core/internal";
import { ENROL_SCOPE } from "./attestation.ts";

/** A challenge with valid members. */
export interface ValidChallenge {
  /** The challenge's identifier. */
  readonly challengeId: string;
  /** The origin or DID of the service. */
  readonly audience: string;
  /** The challenge's nonce. */
  readonly nonce: string;
  /** The scopes that may be granted. */
  readonly scopes: readonly string[];
  /** The only DID that may answer; undefined for any. */
  readonly subject: string | undefined;
  /** End of the challenge. */
  readonly expiresAt: Instant;
}

/** A challenge that may be signed: its text matches its members. */
export interface ValidSignableChallenge extends ValidChallenge {
  /** The requirements on the subject's relationship; empty for none. */
  readonly require: readonly string[];
  /** The description of the challenge, built here. */
  readonly text: string;
}

/** Maximum number of scopes in a challenge (docs/protocol.md §7). */
export const MAX_SCOPES: number = 32;

/** RFC 6749 §3.3: printable ASCII without space, quote and backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Returns whether a value is one scope token. */
export function isScopeToken(scope: unknown): scope is string {
  return typeof scope === "string" && SCOPE_TOKEN.test(scope);
}

/**
 * Validates the members that an attestation answers; other members are ignored.
 *
 * @throws {SigError} `missing_field`, `invalid_field`, with their pointer.
 */
export function validateChallenge(challenge: unknown): ValidChallenge {
  if (!isObject(challenge)) {
    throw fault("invalid_field", "", "it must be one JSON object");
  }
  const fields = new Fields(challenge);
  const read = {
    challengeId: fields.identifier("challenge_id"),
    audience: fields.identifier("audience"),
    nonce: fields.identifier("nonce"),
    scopes: fields.member("scopes", isScopes, "an array of scope tokens"),
    subject: fields.optional("subject", isIdentifier, "a DID or null"),
    expiresAt: fields.timestamp("expires_at"),
  };
  requireNoIssue(fields);
  // Every required member is present, because none has an issue.
  return read as ValidChallenge;
}

function isScopes(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isScopeToken);
}

function requireNoIssue({ issues: [issue] }: Fields): void {
  if (issue) throw fault(issue.code, issue.pointer, issue.detail);
}

/**
 * Validates a challenge for the signer. The text that a person reads is
 * separate from the signed members, so a relay could change one of them: the
 * text is rebuilt from the members, and any other text is rejected. The
 * audience must be an origin or a DID, because the person compares it with the
 * current site (docs/protocol.md §7).
 *
 * @throws {SigError} `missing_field`, `invalid_field`, with their pointer.
 */
export function validateSignableChallenge(
  challenge: unknown,
): ValidSignableChallenge {
  const checked = validateChallenge(challenge);
  const { audience, scopes, subject, expiresAt } = checked;
  const members = challenge as OpenObject;
  if (!isAudience(audience)) {
    throw fault("invalid_field", "/audience", "must be an origin or a DID");
  }
  if (scopes.length > MAX_SCOPES || new Set(scopes).size < scopes.length) {
    throw fault(
      "invalid_field",
      "/scopes",
      `must be at most ${MAX_SCOPES} scope tokens, each once`,
    );
  }
  requireNoEnrolment(audience, scopes);
  const fields = new Fields(members);
  const issuedAt = fields.timestamp("issued_at");
  const require = fields.optional(
    "require",
    isIdentifiers,
    "null or an array of strings without control characters",
  ) ?? null;
  requireNoIssue(fields);
  requireValidity(issuedAt!, expiresAt);
  const text = describeChallenge({
    challenge_id: checked.challengeId,
    audience,
    nonce: checked.nonce,
    scopes,
    subject: subject ?? null,
    require,
    issued_at: members.issued_at as string,
    expires_at: members.expires_at as string,
  });
  const message = member(members, "message");
  if (message !== undefined && message !== text) {
    throw new SigError("invalid_field", {
      action: "use challenge",
      reason: "/message does not say what would be signed",
      context: {
        pointer: "/message",
        hint:
          "Somebody may have changed it on its way. Begin the login again, on the site itself.",
      },
    });
  }
  return { ...checked, require: require ?? [], text };
}

/** Returns whether a text is an origin as browsers spell it, or a DID. */
function isAudience(text: string): boolean {
  return /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/.test(text) ||
    /^https?:/.test(text) && URL.parse(text)?.origin === text;
}

/**
 * Rejects an invitation that a site relays as a login, with the issuer's DID as
 * the audience and the invitation's jti and digest as id and nonce. Its signer
 * would join an organisation without knowing it (docs/protocol.md §9).
 */
function requireNoEnrolment(audience: string, scopes: readonly string[]): void {
  if (!audience.startsWith("did:") || !scopes.includes(ENROL_SCOPE)) return;
  throw fault(
    "invalid_field",
    "/scopes",
    `must not have ${ENROL_SCOPE}, which is for answers to invitations, where the audience is a DID`,
  );
}

function requireValidity(from: Instant, to: Instant): void {
  const seconds = to.seconds - from.seconds +
    (to.nanoseconds - from.nanoseconds) / 1e9;
  if (seconds >= MIN_TTL_SECONDS && seconds <= MAX_TTL_SECONDS) return;
  throw fault(
    "invalid_field",
    "/expires_at",
    `must lie ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS} s after issued_at`,
  );
}

function isIdentifiers(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isIdentifier);
}

function fault(code: ErrorCode, pointer: string, why: string): SigError {
  const place = pointer === "" ? "" : `${pointer} `;
  return new SigError(code, {
    action: "use challenge",
    reason: `${place}${why}`,
    context: { pointer },
  });
}

/** The members of a challenge that its description contains. */
export interface DescribedChallenge {
  /** The challenge's identifier. */
  readonly challenge_id: string;
  /** The origin or DID of the service. */
  readonly audience: string;
  /** The nonce, which binds the answer to this challenge. */
  readonly nonce: string;
  /** The scopes that may be granted, in the order of the description. */
  readonly scopes: readonly string[];
  /** The only DID that may answer; null for any. */
  readonly subject: string | null;
  /** The requirements on the subject's relationship; null for none. */
  readonly require: readonly string[] | null;
  /** Start of the challenge: RFC 3339 UTC, in its original spelling. */
  readonly issued_at: string;
  /** End of the challenge: RFC 3339 UTC, in its original spelling. */
  readonly expires_at: string;
}

/**
 * Describes a challenge in the format of ERC-4361 ("Sign-In with …"). The
 * person does not sign this text but an attestation with the same values. A
 * program that shows a text must build it with this function, and
 * `signAttestation` rejects a challenge with another `message`
 * (docs/protocol.md §7).
 *
 * Each value is on one line: line breaks and marks that hide or reorder text
 * become `\uXXXX`, so that no value can look like another line.
 *
 * @example
 * ```ts
 * import { describeChallenge } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const message = describeChallenge({
 *   challenge_id: "c-1",
 *   audience: "https://shop.example",
 *   nonce: "n-1",
 *   scopes: ["profile"],
 *   subject: null,
 *   require: null,
 *   issued_at: "2026-01-31T09:00:00Z",
 *   expires_at: "2026-01-31T09:05:00Z",
 * });
 * assertEquals(message.split("\n").slice(0, 4), [
 *   "https://shop.example wants you to sign in with your key:",
 *   "any did:key or did:web of yours",
 *   "",
 *   "You grant: profile",
 * ]);
 * ```
 */
export function describeChallenge(challenge: DescribedChallenge): string {
  const { scopes, require } = challenge;
  const lines = [
    `${challenge.audience} wants you to sign in with your key:`,
    challenge.subject ?? "any did:key or did:web of yours",
    "",
    `You grant: ${scopes.length === 0 ? "nothing more" : scopes.join(" ")}`,
    ...(require === null ? [] : [`You must have: ${require.join(", ")}`]),
    "Agree only if you are on this site and started this yourself.",
    "",
    `URI: ${challenge.audience}`,
    "Version: 1",
    `Nonce: ${challenge.nonce}`,
    `Issued At: ${challenge.issued_at}`,
    `Expiration Time: ${challenge.expires_at}`,
    `Request ID: ${challenge.challenge_id}`,
  ];
  return lines.map(escapeInvisible).join("\n");
}
