/** Key identifiers (RFC 7638). @module */

import type { Jwk } from "@sig/core";
import { readPublicKey } from "./public_key.ts";
import type { VerificationKey } from "./verification_key.ts";

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
  return await thumbprintOf(readPublicKey(jwk).x);
}

/**
 * Of keys whose JWK is frozen, as that of every imported key is. No state: the
 * same would be calculated again, by two turns of a pool of threads.
 */
const thumbprints = new WeakMap<Jwk, string>();

/**
 * {@linkcode calculateKid} of an imported key, which is not judged again, and
 * calculated once.
 *
 * @example
 * ```ts
 * import { calculateKid, calculateKidOf, importVerificationKey } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
 * const jwk = { kty: "OKP", crv: "Ed25519", x, kid: "orgsign-1" } as const;
 * const key = await importVerificationKey(jwk);
 * assertEquals(await calculateKidOf(key), await calculateKid(jwk));
 * ```
 */
export async function calculateKidOf(
  { jwk }: Pick<VerificationKey, "jwk">,
): Promise<string> {
  const known = thumbprints.get(jwk);
  if (known !== undefined) return known;
  const thumbprint = await thumbprintOf(jwk.x);
  if (Object.isFrozen(jwk)) thumbprints.set(jwk, thumbprint);
  return thumbprint;
}

async function thumbprintOf(x: string): Promise<string> {
  // Loaded when first needed: whoever only verifies never loads jose.
  const { calculateJwkThumbprint } = await import("jose/jwk/thumbprint");
  return await calculateJwkThumbprint({ kty: "OKP", crv: "Ed25519", x });
}
