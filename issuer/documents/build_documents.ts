/** Builds the published documents (docs/protocol.md §1). @module */

import {
  type DidDocument,
  type Jwk,
  type Jwks,
  SigError,
  type SigMetadata,
  SPEC_VERSION,
  type VerificationMethod,
  wellKnownUrls,
} from "@sig/core";
import { toPublicJwk } from "@sig/jose/keys";

const CONTEXTS = [
  "https://www.w3.org/ns/did/v1",
  "https://w3id.org/security/suites/jws-2020/v1",
];

/**
 * Builds `did.json`. Every key is listed in `assertionMethod`, so each may sign
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

/** Returns a key as a verification method of a DID. */
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

/**
 * Builds `jwks.json` with the public parts of the keys only.
 *
 * @example
 * ```ts
 * import { buildJwks } from "@sig/issuer";
 * import { generateSigningKey } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const key = await generateSigningKey({ kid: "orgsign-1" });
 * assertEquals(buildJwks([key]).keys, [{
 *   kty: "OKP",
 *   crv: "Ed25519",
 *   x: key.x,
 *   kid: "orgsign-1",
 *   use: "sig",
 *   alg: "EdDSA",
 * }]);
 * ```
 *
 * @throws {TypeError} for a key without a `kid`.
 */
export function buildJwks(keys: readonly Jwk[]): Jwks {
  return { keys: keys.map(buildPublicJwk) };
}

/** Returns a key as published in the key set and in the DID document. */
export function buildPublicJwk(key: Jwk): Jwk & { readonly kid: string } {
  const { kid } = key;
  if (kid === undefined) {
    throw new TypeError("Cannot publish key: it must have a kid");
  }
  return { ...toPublicJwk(key), kid };
}

/** Options of {@linkcode buildMetadata}. */
export interface BuildMetadataOptions {
  /** Whether the feed contains public events only (default: true). */
  readonly publicOnly?: boolean;
  /**
   * As in core's `parseDidWeb`: accept an IP address or a name of a closed
   * network, which mean `http://` (default: false).
   */
  readonly allowPrivate?: boolean;
}

/**
 * Builds `sig.json` from an issuer's did:web.
 *
 * @example
 * ```ts
 * import { buildMetadata } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * const metadata = buildMetadata("did:web:acme.example");
 * assertEquals(
 *   metadata.events_uri,
 *   "https://acme.example/.well-known/sig/events.jsonl",
 * );
 * ```
 *
 * @throws {SigError} `unsupported_did_method`, `invalid_identifier`,
 * `address_not_allowed`, as `parseDidWeb` of `@sig/core`.
 */
export function buildMetadata(
  did: string,
  options: BuildMetadataOptions = {},
): SigMetadata {
  const allowPrivate = options.allowPrivate ?? false;
  const urls = wellKnownUrls(did, { allowPrivate });
  return {
    spec_version: SPEC_VERSION,
    issuer: did,
    jwks_uri: urls.jwks,
    events_uri: urls.feed,
    public_only: options.publicOnly ?? true,
    algorithms_supported: ["EdDSA"],
    event_serialization: "jws-flattened",
  };
}

/**
 * Encodes a document as indented JSON, which people can read as well.
 *
 * @throws {SigError} `document_too_large` if readers would refuse it.
 */
export function encodeDocument(
  document: unknown,
  maxBytes: number,
): Uint8Array {
  const bytes = new TextEncoder().encode(
    `${JSON.stringify(document, null, 2)}\n`,
  );
  if (bytes.length <= maxBytes) return bytes;
  throw new SigError("document_too_large", {
    action: "publish document",
    reason: `it would have ${bytes.length} bytes (at most ${maxBytes})`,
    context: { limit: maxBytes },
  });
}
