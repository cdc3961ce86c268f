/** Login: what is asked and what is answered (docs/protocol.md §7). @module */

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
 * Characters of an attestation at most. An honest one has about 700, and
 * nothing longer is worth decoding before anything about it is known.
 */
export const MAX_ATTESTATION_LENGTH = 8 * 1024;

/**
 * The scope of an answer to an invitation (docs/protocol.md §9): no login challenge of
 * a DID may have it.
 */
export const ENROL_SCOPE = "enrol";

/** The part of a challenge that an attestation answers. */
export interface AttestationChallenge {
  /** Comes back as `jti`. */
  readonly challenge_id: string;
  /** The origin or DID that asks; comes back as `aud`. */
  readonly audience: string;
  /** Comes back as `nonce`. */
  readonly nonce: string;
  /** What may be granted: RFC 6749 scope tokens. */
  readonly scopes: readonly string[];
  /** The only DID that may answer; null or absent: anyone. */
  readonly subject?: string | null;
  /** RFC 3339 UTC; the attestation's `exp` is not later. */
  readonly expires_at: string;
}

/** A challenge as the signer gets it: with the text for people. */
export interface SignableChallenge extends AttestationChallenge {
  /** RFC 3339 UTC; `expires_at` lies 30 to 900 s after it. */
  readonly issued_at: string;
  /** What the subject's relationship must meet; null or absent: nothing. */
  readonly require?: readonly string[] | null;
  /** What `describeChallenge` makes of the other members, or absent. */
  readonly message?: string;
}

/** The header of an attestation: exactly these members. */
export interface AttestationHeader {
  /** Always `EdDSA`. */
  readonly alg: "EdDSA";
  /** Always `sig-attestation+jwt`. */
  readonly typ: typeof ATTESTATION_TYP;
  /** The subject's key: `did:key:z…#z…`, or `did:web:…#<kid>`. */
  readonly kid: string;
}

/** The claims of an attestation; others are ignored. */
export interface AttestationClaims {
  /** The subject's DID. */
  readonly iss: string;
  /** The subject's DID again. */
  readonly sub: string;
  /** Whom it is for: the challenge's audience. */
  readonly aud: string;
  /** The challenge's nonce. */
  readonly nonce: string;
  /** The challenge's id. */
  readonly jti: string;
  /** Seconds since 1970 at which it was made. */
  readonly iat: number;
  /** Seconds since 1970 from which on it no longer counts. */
  readonly exp: number;
  /** What is granted, separated by spaces. */
  readonly scope?: string;
}

/** An attestation that is well-formed. Nothing is verified yet. */
export interface ParsedAttestation {
  /** The header. */
  readonly header: AttestationHeader;
  /** The claims. */
  readonly claims: AttestationClaims;
  /** The DID of `kid`: who signed it, once the signature is verified. */
  readonly subject: string;
  /** The tokens of `scope`, sorted, each once. */
  readonly scopes: readonly string[];
  /** The signature's bytes, of whatever length. */
  readonly signature: Uint8Array<ArrayBuffer>;
  /** The bytes that were signed. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
}

/** A DID with a fragment and nothing else (DID Core §3.2). */
const KEY_ID = /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+#[^#]+$/;

/**
 * Reads an attestation in the order of docs/protocol.md §7: size (8 KiB), syntax,
 * header, claims and their JSON types. Syntax faults, doubled members included,
 * are `invalid_attestation`. The third part may be empty here, so that
 * an unsecured token is recognised by its `alg`; an empty signature then fails
 * with the signature.
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

function fault(code: ErrorCode, why: string, context?: ErrorContext): SigError {
  return new SigError(code, `Cannot read attestation: ${why}`, {
    ...(context ? { context } : {}),
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
    // The DID is the key: another fragment would name a key that isn't there.
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
 * Sorted. A malformed list has tokens that no challenge grants; a token that
 * occurs twice is a fault, since a challenge's are unique.
 */
function splitScope(scope: string): readonly string[] {
  if (scope === "") return [];
  const tokens = scope.split(" ").sort();
  const isTwice = (token: string, i: number) =>
    token !== "" && token === tokens[i - 1];
  if (!tokens.some(isTwice)) return [...new Set(tokens)];
  throw fault("invalid_attestation", "claim scope must name each scope once", {
    pointer: "/scope",
  });
}
