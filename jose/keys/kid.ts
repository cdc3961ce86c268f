/** Key identifiers (RFC 7638). @module */

import type { Jwk } from "@sig/core";
import { type PublicKey, readPublicKey } from "./public_key.ts";

/**
 * The RFC 7638 thumbprint (SHA-256, base64url) of a public or private key: a
 * kid that names exactly one key. Only `kty`, `crv` and `x` enter it.
 *
 * @example RFC 8037, A.3
 * ```ts
 * import { calculateKid } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
 * assertEquals(
 *   await calculateKid({ kty: "OKP", crv: "Ed25519", x }),
 *   "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
 * );
 * ```
 *
 * @throws {SigError} `invalid_key`.
 */
export async function calculateKid(jwk: Jwk): Promise<string> {
  return await calculateThumbprint(readPublicKey(jwk));
}

/** {@linkcode calculateKid} of a key that was judged already. */
export async function calculateThumbprint({ x }: PublicKey): Promise<string> {
  // Loaded when first needed: whoever only verifies never loads jose.
  const { calculateJwkThumbprint } = await import("jose/jwk/thumbprint");
  return await calculateJwkThumbprint({ kty: "OKP", crv: "Ed25519", x });
}
