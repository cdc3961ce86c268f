/** Reading an attestation: size, syntax, header, claims. @module */

import {
  ATTESTATION_TYP,
  type ErrorCode,
  type ErrorContext,
  type OpenObject,
  SigError,
} from "@sig/core";
import { isIdentifier } from "@sig/core/internal";
import {
  type AttestationClaims,
  type AttestationHeader,
  MAX_ATTESTATION_LENGTH,
  type ParsedAttestation,
} from "./attestation.ts";
import { member } from "../bytes/json_object.ts";
import { readCompactJws } from "../event/jws.ts";

/** A DID with a fragment and nothing else (DID Core §3.2). */
const KEY_ID = /^(did:[a-z0-9]+:[A-Za-z0-9._:%-]+)#[^#]+$/;

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
