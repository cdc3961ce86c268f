/** The key set that an issuer publishes (PROTOCOL §1). @module */

import type { Jwk, Jwks } from "@sig/core";
import { toPublicJwk } from "@sig/jose";

/**
 * Builds `jwks.json`: public parts only, whatever the keys hold besides.
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

/** A key as it is published, in the key set and in the DID document. */
export function buildPublicJwk(key: Jwk): Jwk & { readonly kid: string } {
  const { kid } = key;
  if (kid === undefined) {
    throw new TypeError("Cannot publish key: it must have a kid");
  }
  return { ...toPublicJwk(key), kid };
}
