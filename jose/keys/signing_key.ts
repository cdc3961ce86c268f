/** Private keys that sign and can't be read back. @module */

import type { Jwk, OpenObject, PrivateJwk } from "@sig/core";
import { isKid, isObject, joinBytes } from "@sig/core/internal";
import {
  calculateKid,
  decode32,
  invalidKey,
  readKid,
  readPublicKey,
  toPublicJwk,
} from "./public_key.ts";
import { importVerificationKey } from "./verification_key.ts";

/**
 * A key that signs. The implementation of this package keeps the private part
 * inside the platform, where it can't be read; a key service is another
 * possible implementation.
 */
export interface SigningKey {
  /** The key's identifier. */
  readonly kid: string;
  /** The public part, as published in a key set. */
  readonly publicJwk: Jwk;
  /** Returns the Ed25519 signature of these bytes (64 bytes). */
  sign(message: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;
}

/** The ASN.1 prefix of a 32-byte Ed25519 seed in PKCS #8 (RFC 8410 §7). */
export const PKCS8_PREFIX: Uint8Array = Uint8Array.of(
  ...[0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06],
  ...[0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
);

/** Differs from any JWS signing input, because it has no dot. */
const SELF_TEST = new TextEncoder().encode("sig signing key self-test");

/**
 * Imports a private Ed25519 JWK and tests it with one signature: a JWK whose
 * `x` does not belong to its `d` imports without an error, but its signatures
 * could not be verified. The default `kid` is the RFC 7638 thumbprint. `use`,
 * `alg` and `key_ops` must allow signing if present.
 *
 * The key can't be read back: JSON, `console.log` and the platform's export do
 * not show the private part (docs/protocol.md §2.5).
 *
 * @example
 * ```ts
 * import { generateSigningKey, importSigningKey } from "@sig/jose";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const jwk = await generateSigningKey({ kid: "orgsign-1" });
 * const key = await importSigningKey(jwk);
 * assertEquals(key.kid, "orgsign-1");
 * assertEquals((await key.sign(new Uint8Array(3))).length, 64);
 * assert(!JSON.stringify(key).includes(jwk.d));
 * ```
 *
 * @throws {SigError} `invalid_key`, with the reason but never the key.
 */
export async function importSigningKey(jwk: unknown): Promise<SigningKey> {
  if (!isObject(jwk)) throw invalidKey("it must be a JWK object");
  readPublicKey(jwk);
  const kid = readKid(jwk);
  requireSigningUse(jwk, kid);
  const seed = decode32(jwk, "d");
  const bare: Jwk = { kty: "OKP", crv: "Ed25519", x: jwk.x as string };
  const named = { ...bare, kid: kid ?? await calculateKid(bare) };
  // With PKCS #8 the platform derives the public key itself: two signatures,
  // one of them for a wrong `x`, would reveal the private key.
  const pkcs8 = joinBytes([PKCS8_PREFIX, seed]);
  seed.fill(0);
  const imported = await importPkcs8(pkcs8, kid);
  const key = new PlatformSigningKey(named.kid, toPublicJwk(named), imported);
  await selfTest(key, bare);
  return key;
}

function requireSigningUse(jwk: OpenObject, kid: string | undefined): void {
  const has = (name: string) => Object.hasOwn(jwk, name);
  if (has("use") && jwk.use !== "sig") throw invalidKey("use must be sig", kid);
  // Browsers export the newer name of RFC 9864.
  if (has("alg") && jwk.alg !== "EdDSA" && jwk.alg !== "Ed25519") {
    throw invalidKey("alg must be EdDSA", kid);
  }
  const operations = jwk.key_ops;
  if (
    has("key_ops") &&
    !(Array.isArray(operations) && operations.includes("sign"))
  ) throw invalidKey("key_ops must contain sign", kid);
}

async function importPkcs8(
  pkcs8: Uint8Array<ArrayBuffer>,
  kid: string | undefined,
): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, [
      "sign",
    ]);
  } catch {
    throw invalidKey("this platform's WebCrypto refuses it", kid);
  } finally {
    pkcs8.fill(0);
  }
}

async function selfTest(key: SigningKey, publicJwk: Jwk): Promise<void> {
  const verifier = await importVerificationKey(publicJwk, { backend: "web" });
  const signature = await key.sign(SELF_TEST);
  if (await verifier.verify(signature, SELF_TEST)) return;
  throw invalidKey(
    "x is not the public key of d (a signature made with d does not verify)",
    key.kid,
  );
}

/** Signs with WebCrypto. */
class PlatformSigningKey implements SigningKey {
  readonly kid: string;
  readonly publicJwk: Jwk;
  /** Not extractable. */
  readonly #key: CryptoKey;

  constructor(kid: string, publicJwk: Jwk, key: CryptoKey) {
    this.kid = kid;
    this.publicJwk = Object.freeze(publicJwk);
    this.#key = key;
  }

  async sign(message: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    const copy = message.slice();
    return new Uint8Array(
      await crypto.subtle.sign("Ed25519", this.#key, copy),
    );
  }
}

/** Options of {@linkcode generateSigningKey}. */
export interface GenerateSigningKeyOptions {
  /** The kid, 1 to 256 characters (default: the RFC 7638 thumbprint). */
  readonly kid?: string;
}

/**
 * Generates a private Ed25519 key as a JWK. Store it where only the owner can
 * read it. `importSigningKey` imports it for signing; `toPublicJwk` returns its
 * public part.
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
 * @throws {RangeError} for an invalid kid.
 */
export async function generateSigningKey(
  options: GenerateSigningKeyOptions = {},
): Promise<PrivateJwk> {
  const { kid } = options;
  if (kid !== undefined && !isKid(kid)) {
    throw new RangeError(
      "Cannot generate key: kid must be 1 to 256 characters, none of them a control character",
    );
  }
  const { subtle } = crypto;
  const pair = await subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  // Platforms add further members (`alg`, `ext`, `key_ops`).
  const { privateKey } = pair as CryptoKeyPair;
  const { x = "", d = "" } = await subtle.exportKey("jwk", privateKey);
  const bare = { kty: "OKP", crv: "Ed25519", x } as const;
  const publicJwk = toPublicJwk({
    ...bare,
    kid: kid ?? await calculateKid(bare),
  });
  return { ...publicJwk, d };
}
