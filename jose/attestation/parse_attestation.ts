/** Reading an attestation: size, syntax, header, claims. @module */

import {
  ATTESTATION_TYP,
  decodeBase64UrlStrict,
  type ErrorCode,
  type ErrorContext,
  isIdentifier,
  isObject,
  JsonError,
  type OpenObject,
  parseJson,
  SigError,
} from "@sig/core";
import {
  type AttestationClaims,
  type AttestationHeader,
  MAX_ATTESTATION_LENGTH,
  type ParsedAttestation,
} from "./attestation.ts";
import { member } from "../bytes/json_object.ts";
import { encodeSigningInput } from "../event/signing_input.ts";

/** A DID with a fragment and nothing else (DID Core §3.2). */
const KEY_ID = /^(did:[a-z0-9]+:[A-Za-z0-9._:%-]+)#[^#]+$/;

/**
 * Reads an attestation in the order of docs/protocol.md §7: size (8 KiB), syntax,
 * header, claims and their JSON types. Syntax faults, doubled members included,
 * are `invalid_attestation`. The third part may be empty here, so that
 * an unsecured token is told apart by its `alg`; an empty signature then fails
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
  const [first, second, third] = splitToken(jwt);
  const headerObject = readObject(first, "the header");
  const claimsObject = readObject(second, "the claims");
  const signature = decodePart(third, "the signature");
  const { header, subject } = readHeader(headerObject);
  const claims = readClaims(claimsObject);
  return {
    header,
    claims,
    subject,
    scopes: splitScope(claims.scope ?? ""),
    signature,
    signingInput: encodeSigningInput({ protected: first, payload: second }),
  };
}

function fault(code: ErrorCode, why: string, context?: ErrorContext): SigError {
  return new SigError(code, `Cannot read attestation: ${why}`, {
    ...(context ? { context } : {}),
  });
}

function splitToken(jwt: unknown): readonly [string, string, string] {
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
  const [first, second, third, ...rest] = jwt.split(".");
  if (
    first === undefined || second === undefined || third === undefined ||
    rest.length > 0
  ) {
    throw fault(
      "invalid_attestation",
      "it must be three base64url parts with dots between them",
    );
  }
  return [first, second, third];
}

function decodePart(part: string, what: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64UrlStrict(part);
  if (bytes !== undefined) return bytes;
  throw fault(
    "invalid_attestation",
    `${what} must be base64url without padding, white space or trailing bits`,
  );
}

function readObject(part: string, what: string): OpenObject {
  try {
    const value = parseJson(decodePart(part, what));
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw fault(
      "invalid_attestation",
      `${what} must be strict JSON: ${error.message}`,
    );
  }
  throw fault("invalid_attestation", `${what} must be one JSON object`);
}

/** Exactly `alg`, `typ` and `kid`: no embedded key, no `crit`, no `b64`. */
function readHeader(
  header: OpenObject,
): { readonly header: AttestationHeader; readonly subject: string } {
  const alg = member(header, "alg");
  if (alg !== "EdDSA") {
    throw fault("algorithm_not_allowed", "alg must be EdDSA");
  }
  const typ = member(header, "typ");
  if (typ !== ATTESTATION_TYP) {
    // Keeps an event, or a token of another service, from being a login.
    throw fault("typ_mismatch", `typ must be ${ATTESTATION_TYP}`);
  }
  const kid = member(header, "kid");
  const subject = isIdentifier(kid) ? KEY_ID.exec(kid)?.[1] : undefined;
  if (!isIdentifier(kid) || subject === undefined) {
    throw fault("invalid_header", "kid must be a DID with a fragment");
  }
  if (
    subject.startsWith("did:key:") &&
    kid !== `${subject}#${subject.slice("did:key:".length)}`
  ) {
    // The DID is the key: another fragment would name a key that isn't there.
    throw fault(
      "invalid_header",
      "kid is a did:key, so its fragment must repeat the key",
    );
  }
  if (Object.keys(header).length > 3) {
    throw fault(
      "invalid_header",
      "the header must have exactly alg, typ and kid",
    );
  }
  return { header: { alg, typ, kid }, subject };
}

function readClaims(claims: OpenObject): AttestationClaims {
  const scope = Object.hasOwn(claims, "scope")
    ? { scope: readString(claims, "scope") }
    : {};
  return {
    iss: readString(claims, "iss"),
    sub: readString(claims, "sub"),
    aud: readString(claims, "aud"),
    nonce: readString(claims, "nonce"),
    jti: readString(claims, "jti"),
    iat: readNumber(claims, "iat"),
    exp: readNumber(claims, "exp"),
    ...scope,
  };
}

function readString(claims: OpenObject, name: string): string {
  const value = member(claims, name);
  if (typeof value === "string") return value;
  throw wrongClaim(name, "a string");
}

function readNumber(claims: OpenObject, name: string): number {
  const value = member(claims, name);
  if (typeof value === "number") return value;
  throw wrongClaim(name, "a number");
}

function wrongClaim(name: string, expected: string): SigError {
  return fault("invalid_attestation", `claim ${name} must be ${expected}`, {
    pointer: `/${name}`,
  });
}

/**
 * Sorted. A malformed list has tokens that no challenge grants; one token twice
 * is no list of scopes, since a challenge's are unique.
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
