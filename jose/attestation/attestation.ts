/** Types and parsing of login attestations (docs/protocol.md §7). @module */

import {
  ATTESTATION_TYP,
  type ErrorCode,
  type ErrorContext,
  type OpenObject,
  SigError,
} from "@sig/core";
import { Fields, isIdentifier, isString } from "@sig/core/internal";
import { readCompactJws, requireHeader } from "../event/jws.ts";

/**
 * Maximum length of an attestation in characters. A usual one has about 700; a
 * longer text is rejected before it is decoded.
 */
export const MAX_ATTESTATION_LENGTH = 8 * 1024;

/**
 * The scope of an answer to an invitation (docs/protocol.md §9). A login
 * challenge with a DID as its audience must not contain it.
 */
export const ENROL_SCOPE = "enrol";

/** The members of a challenge that an attestation answers. */
export interface AttestationChallenge {
  /** The challenge's identifier, repeated as `jti`. */
  readonly challenge_id: string;
  /** The origin or DID of the service, repeated as `aud`. */
  readonly audience: string;
  /** The challenge's nonce, repeated as `nonce`. */
  readonly nonce: string;
  /** The scopes that may be granted: RFC 6749 scope tokens. */
  readonly scopes: readonly string[];
  /** The only DID that may answer; null or absent for any. */
  readonly subject?: string | null;
  /** End of the challenge: RFC 3339 UTC; `exp` is not later. */
  readonly expires_at: string;
}

/** A challenge for the signer, with a text for people. */
export interface SignableChallenge extends AttestationChallenge {
  /** Start: RFC 3339 UTC; `expires_at` is 30 to 900 s later. */
  readonly issued_at: string;
  /** The requirements on the relationship; null or absent for none. */
  readonly require?: readonly string[] | null;
  /** The text that `describeChallenge` builds, or absent. */
  readonly message?: string;
}

/** The header of an attestation, without other members. */
export interface AttestationHeader {
  /** Always `EdDSA`. */
  readonly alg: "EdDSA";
  /** Always `sig-attestation+jwt`. */
  readonly typ: typeof ATTESTATION_TYP;
  /** The subject's key: `did:key:z…#z…`, or `did:web:…#<kid>`. */
  readonly kid: string;
}

/** The claims of an attestation; other claims are ignored. */
export interface AttestationClaims {
  /** The subject's DID. */
  readonly iss: string;
  /** The subject's DID, as in `iss`. */
  readonly sub: string;
  /** The audience of the challenge. */
  readonly aud: string;
  /** The challenge's nonce. */
  readonly nonce: string;
  /** The challenge's identifier. */
  readonly jti: string;
  /** Time of signing in seconds since 1970. */
  readonly iat: number;
  /** Time of expiry in seconds since 1970. */
  readonly exp: number;
  /** The granted scopes, separated by spaces; absent for none. */
  readonly scope?: string;
}

/** A well-formed attestation. Its signature is not verified yet. */
export interface ParsedAttestation {
  /** The protected header. */
  readonly header: AttestationHeader;
  /** The claims. */
  readonly claims: AttestationClaims;
  /** The DID in `kid`: the signer, once the signature is verified. */
  readonly subject: string;
  /** The granted scopes, sorted, without duplicates. */
  readonly scopes: readonly string[];
  /** The decoded signature, of any length. */
  readonly signature: Uint8Array<ArrayBuffer>;
  /** The signed bytes. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
}

/** A DID with a fragment, without path or query (DID Core §3.2). */
const KEY_ID = /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+#[^#]+$/;

/**
 * Parses an attestation in the order of docs/protocol.md §7: size (8 KiB),
 * syntax, header, claims and their JSON types. Syntax errors, including
 * duplicate members, are `invalid_attestation`. The third part may be empty, so
 * that an unsecured token is rejected for its `alg`; an empty signature fails
 * at verification.
 *
 * @example
 * ```ts
 * import { parseAttestation } from "@sig/jose";
 * import { isSigError } from "@sig/core";
 * import { assert, assertThrows } from "@std/assert";
 *
 * const unsecured = `${btoa('{"alg":"none"}').replace(/=/g, "")}.e30.`;
 * const error = assertThrows(() => parseAttestation(unsecured));
 * assert(isSigError(error, "algorithm_not_allowed"));
 * ```
 *
 * @throws {SigError} `invalid_attestation`, `algorithm_not_allowed`,
 * `typ_mismatch`, `invalid_header`.
 */
export function parseAttestation(jwt: string): ParsedAttestation {
  requireLength(jwt);
  const jws = readCompactJws(jwt, (why) => fault("invalid_attestation", why));
  const { header, subject } = readHeader(jws.header);
  const claims = readClaims(jws.claims);
  return {
    header,
    claims,
    subject,
    scopes: splitScope(claims.scope ?? ""),
    signature: jws.signature,
    signingInput: jws.signingInput,
  };
}

function fault(
  code: ErrorCode,
  why: string,
  context: ErrorContext = {},
): SigError {
  return new SigError(code, {
    action: "read attestation",
    reason: why,
    context,
  });
}

function requireLength(jwt: unknown): void {
  if (typeof jwt !== "string") {
    throw fault("invalid_attestation", "it must be a string");
  }
  if (jwt.length > MAX_ATTESTATION_LENGTH) {
    throw fault(
      "invalid_attestation",
      `it is longer than ${MAX_ATTESTATION_LENGTH} characters`,
      { limit: MAX_ATTESTATION_LENGTH },
    );
  }
}

function readHeader(
  header: OpenObject,
): { readonly header: AttestationHeader; readonly subject: string } {
  const read = requireHeader(header, {
    typ: ATTESTATION_TYP,
    isKid: isKeyId,
    kid: "a DID with a fragment",
    fault,
  });
  const subject = read.kid.slice(0, read.kid.indexOf("#"));
  if (
    subject.startsWith("did:key:") &&
    read.kid !== `${subject}#${subject.slice("did:key:".length)}`
  ) {
    // A did:key has only this key; any other fragment names a key that does not
    // exist.
    throw fault(
      "invalid_header",
      "kid is a did:key, so its fragment must repeat the key",
    );
  }
  return { header: read, subject };
}

function isKeyId(kid: unknown): kid is string {
  return isIdentifier(kid) && KEY_ID.test(kid);
}

function readClaims(claims: OpenObject): AttestationClaims {
  const fields = new Fields(claims);
  const text = (name: string) => fields.member(name, isString, "a string")!;
  const number = (name: string) => fields.member(name, isNumber, "a number")!;
  const read = {
    iss: text("iss"),
    sub: text("sub"),
    aud: text("aud"),
    nonce: text("nonce"),
    jti: text("jti"),
    iat: number("iat"),
    exp: number("exp"),
    ...(Object.hasOwn(claims, "scope") ? { scope: text("scope") } : {}),
  };
  const [issue] = fields.issues;
  if (issue === undefined) return read;
  const { pointer, detail } = issue;
  const why = `claim ${pointer.slice(1)} ${detail}`;
  throw fault("invalid_attestation", why, { pointer });
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

/**
 * Splits and sorts scopes. Odd spacing gives tokens that no challenge grants; a
 * duplicate is rejected, because a challenge has none.
 */
function splitScope(scope: string): readonly string[] {
  if (scope === "") return [];
  const tokens = scope.split(" ").sort();
  const isDuplicate = (token: string, i: number) =>
    token !== "" && token === tokens[i - 1];
  if (!tokens.some(isDuplicate)) return [...new Set(tokens)];
  throw fault("invalid_attestation", "claim scope must name each scope once", {
    pointer: "/scope",
  });
}
