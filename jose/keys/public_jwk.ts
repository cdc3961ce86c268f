/** A key as it is published. @module */

import type { Jwk } from "@sig/core";
import { readKid, readPublicKey } from "./public_key.ts";

/**
 * The public part of a key as it stands in a key set (docs/protocol.md §1): `kty`,
 * `crv`, `x`, the `kid` if there is one, `use` `sig` and `alg` `EdDSA`, in
 * this order. Nothing else is taken over.
 *
 * @example
 * ```ts
 * import { generateSigningKey, toPublicJwk } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const published = toPublicJwk(await generateSigningKey({ kid: "key-1" }));
 * const names = ["kty", "crv", "x", "kid", "use", "alg"];
 * assertEquals(Object.keys(published), names);
 * ```
 *
 * @throws {SigError} `invalid_key`.
 */
export function toPublicJwk(jwk: Jwk): Jwk {
  const { x } = readPublicKey(jwk);
  const kid = readKid(jwk);
  return {
    kty: "OKP",
    crv: "Ed25519",
    x,
    ...(kid === undefined ? {} : { kid }),
    use: "sig",
    alg: "EdDSA",
  };
}
