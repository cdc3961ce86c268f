/** Fresh keys. @module */

import type { PrivateJwk } from "@sig/core";
import { isKid } from "../bytes/json_object.ts";
import { calculateKid } from "./kid.ts";
import { toPublicJwk } from "./public_jwk.ts";

/** Options of {@linkcode generateSigningKey}. */
export interface GenerateSigningKeyOptions {
  /** 1–256 characters; the RFC 7638 thumbprint unless told. */
  readonly kid?: string;
}

/**
 * Makes a private Ed25519 key as a JWK. Store it where nobody else reads it;
 * `importSigningKey` makes it a signer, `toPublicJwk` its public part.
 *
 * @example
 * ```ts
 * import { calculateKid, generateSigningKey } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const jwk = await generateSigningKey();
 * assertEquals(jwk.kid, await calculateKid(jwk));
 * ```
 *
 * @throws {RangeError} for a kid that can't be one.
 */
export async function generateSigningKey(
  options: GenerateSigningKeyOptions = {},
): Promise<PrivateJwk> {
  const { kid } = options;
  if (kid !== undefined && !isKid(kid)) {
    throw new RangeError(
      "Cannot generate key: kid must be 1 to 256 characters without control ones",
    );
  }
  const { generateKeyPair } = await import("jose/key/generate/keypair");
  const { exportJWK } = await import("jose/key/export");
  const { privateKey } = await generateKeyPair("EdDSA", {
    crv: "Ed25519",
    extractable: true,
  });
  // Platforms add members of their own (`alg`, `ext`, `key_ops`).
  const { x = "", d = "" } = await exportJWK(privateKey);
  const bare = { kty: "OKP", crv: "Ed25519", x } as const;
  const publicJwk = toPublicJwk({
    ...bare,
    kid: kid ?? await calculateKid(bare),
  });
  return { ...publicJwk, d };
}
