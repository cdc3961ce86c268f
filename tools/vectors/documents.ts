/** The documents of the vectors' issuer. @module */

import type { JsonObject } from "./bytes.ts";
import { KEY_1, type TestKey } from "./keys.ts";

/** The issuer of every vector. */
export const ISSUER = "did:web:acme.example";

/** Returns a key as it is published. */
export function publicJwk(key: TestKey, changes: JsonObject = {}): JsonObject {
  return {
    kty: "OKP",
    crv: "Ed25519",
    x: key.x,
    kid: key.kid,
    use: "sig",
    alg: "EdDSA",
    ...changes,
  };
}

/** Returns `jwks.json` of some entries. */
export function keySet(...entries: readonly JsonObject[]): JsonObject {
  return { keys: entries };
}

/** Returns `jwks.json` of some keys. */
export function jwks(...keys: readonly TestKey[]): JsonObject {
  return keySet(...keys.map((key) => publicJwk(key)));
}

/** Returns a verification method of the DID document. */
export function method(key: TestKey, changes: JsonObject = {}): JsonObject {
  return {
    id: `${ISSUER}#${key.kid}`,
    type: "JsonWebKey2020",
    controller: ISSUER,
    publicKeyJwk: publicJwk(key),
    ...changes,
  };
}

/** Returns `did.json` of some keys. */
export function didDocument(
  keys: readonly TestKey[] = [KEY_1],
  changes: JsonObject = {},
): JsonObject {
  return {
    "@context": [
      "https://www.w3.org/ns/did/v1",
      "https://w3id.org/security/suites/jws-2020/v1",
    ],
    id: ISSUER,
    verificationMethod: keys.map((key) => method(key)),
    assertionMethod: keys.map((key) => `${ISSUER}#${key.kid}`),
    ...changes,
  };
}

/** `sig.json`. */
export function metadata(changes: JsonObject = {}): JsonObject {
  return {
    spec_version: "sig/0.1",
    issuer: ISSUER,
    jwks_uri: "https://acme.example/.well-known/jwks.json",
    events_uri: "https://acme.example/.well-known/sig/events.jsonl",
    public_only: true,
    algorithms_supported: ["EdDSA"],
    event_serialization: "jws-flattened",
    ...changes,
  };
}
