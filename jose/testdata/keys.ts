/** Keys for tests only: anyone can derive them. */

import type { Jwk, PrivateJwk } from "@sig/core";
import { importSigningKey, type SigningKey } from "@sig/jose";
import { encodeBase64Url } from "@std/encoding/base64url";
import { decodeHex } from "@std/encoding/hex";

const PKCS8_PREFIX = decodeHex("302e020100300506032b657004220420");

/** Returns the private JWK of a seed. */
export async function jwkOfSeed(
  seed: Uint8Array,
  kid?: string,
): Promise<PrivateJwk> {
  const pkcs8 = Uint8Array.of(...PKCS8_PREFIX, ...seed);
  const usages: KeyUsage[] = ["sign"];
  const key = await crypto.subtle.importKey(
    "pkcs8",
    pkcs8,
    "Ed25519",
    true,
    usages,
  );
  const { x = "" } = await crypto.subtle.exportKey("jwk", key);
  const d = encodeBase64Url(seed);
  const named = kid === undefined ? {} : { kid };
  return { kty: "OKP", crv: "Ed25519", x, ...named, d };
}

/** Returns a private test key, derived from a name. */
export async function testJwk(word: string, kid = word): Promise<PrivateJwk> {
  const text = new TextEncoder().encode(`sig-test-key-${word}`);
  const seed = await crypto.subtle.digest("SHA-256", text);
  return await jwkOfSeed(new Uint8Array(seed), kid);
}

/** Returns a test key, imported for signing. */
export async function testKey(word: string, kid = word): Promise<SigningKey> {
  return await importSigningKey(await testJwk(word, kid));
}

/** Returns a public JWK of any bytes, valid or not. */
export function publicJwkOf(bytes: Uint8Array, kid?: string): Jwk {
  const named = kid === undefined ? {} : { kid };
  return { kty: "OKP", crv: "Ed25519", x: encodeBase64Url(bytes), ...named };
}
