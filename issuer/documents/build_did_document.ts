/** The DID document that an issuer publishes (PROTOCOL §1). @module */

import type { DidDocument, Jwk, VerificationMethod } from "@sig/core";
import { buildPublicJwk } from "./build_jwks.ts";

const CONTEXTS = [
  "https://www.w3.org/ns/did/v1",
  "https://w3id.org/security/suites/jws-2020/v1",
];

/**
 * Builds `did.json`: every key is listed in `assertionMethod`, so each may sign
 * events.
 *
 * @example
 * ```ts
 * import { buildDidDocument } from "@sig/issuer";
 * import { generateSigningKey } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const key = await generateSigningKey({ kid: "orgsign-1" });
 * const document = buildDidDocument("did:web:acme.example", [key]);
 * assertEquals(document.assertionMethod, ["did:web:acme.example#orgsign-1"]);
 * ```
 *
 * @throws {TypeError} for a key without a `kid`.
 */
export function buildDidDocument(
  did: string,
  keys: readonly Jwk[],
): DidDocument {
  const methods = keys.map((key) => buildVerificationMethod(did, key));
  return {
    "@context": CONTEXTS,
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map((method) => method.id),
  };
}

/** A key as a verification method of a DID. */
export function buildVerificationMethod(
  did: string,
  key: Jwk,
): VerificationMethod {
  const publicKeyJwk = buildPublicJwk(key);
  return {
    id: `${did}#${publicKeyJwk.kid}`,
    type: "JsonWebKey2020",
    controller: did,
    publicKeyJwk,
  };
}
