/** Judging the challenge that somebody else sent. @module */

import {
  type ErrorCode,
  type Instant,
  isIdentifier,
  isObject,
  type OpenObject,
  parseTimestamp,
  SigError,
} from "@sig/core";
import { member } from "./json_object.ts";

/** A challenge whose members have the right shape. */
export interface CheckedChallenge {
  /** Its id. */
  readonly challengeId: string;
  /** Who asks. */
  readonly audience: string;
  /** The nonce. */
  readonly nonce: string;
  /** What may be granted. */
  readonly scopes: readonly string[];
  /** Who must answer, if it says so. */
  readonly subject: string | undefined;
  /** When it expires. */
  readonly expiresAt: Instant;
}

/** RFC 6749 §3.3: printable ASCII without space, quote and backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * Reads the members that an attestation answers; others are ignored.
 *
 * @throws {SigError} `missing_field`, `invalid_field`, with their pointer.
 */
export function checkChallenge(challenge: unknown): CheckedChallenge {
  if (!isObject(challenge)) {
    throw fault("invalid_field", "", "it must be one JSON object");
  }
  const subject = member(challenge, "subject") ?? undefined;
  if (subject !== undefined && !isIdentifier(subject)) {
    throw fault("invalid_field", "/subject", "must be a DID or null");
  }
  const expiresAt = parseTimestamp(required(challenge, "expires_at"));
  if (expiresAt === undefined) {
    throw fault(
      "invalid_field",
      "/expires_at",
      "must be an RFC 3339 UTC timestamp",
    );
  }
  return {
    challengeId: text(challenge, "challenge_id"),
    audience: text(challenge, "audience"),
    nonce: text(challenge, "nonce"),
    scopes: readScopes(required(challenge, "scopes")),
    subject,
    expiresAt,
  };
}

function readScopes(scopes: unknown): readonly string[] {
  const isToken = (scope: unknown): scope is string =>
    typeof scope === "string" && SCOPE_TOKEN.test(scope);
  if (Array.isArray(scopes) && scopes.every(isToken)) return scopes;
  throw fault("invalid_field", "/scopes", "must be an array of scope tokens");
}

function required(challenge: OpenObject, name: string): unknown {
  if (Object.hasOwn(challenge, name)) return challenge[name];
  throw fault("missing_field", `/${name}`, "is required");
}

function text(challenge: OpenObject, name: string): string {
  const value = required(challenge, name);
  if (isIdentifier(value)) return value;
  throw fault(
    "invalid_field",
    `/${name}`,
    "must be a non-empty string without control characters",
  );
}

function fault(code: ErrorCode, pointer: string, why: string): SigError {
  const place = pointer === "" ? "" : `${pointer} `;
  return new SigError(code, `Cannot use challenge: ${place}${why}`, {
    context: { pointer },
  });
}
