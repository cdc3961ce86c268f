/** A private key that signs and shows nothing of itself. @module */

import type { Jwk, OpenObject, PrivateJwk } from "@sig/core";
import { isObject, joinBytes } from "@sig/core/internal";
import { hasBuiltins, loadNodeCrypto } from "./platform.ts";
import {
  calculateKid,
  decode32,
  invalidKey,
  readKid,
  readPublicKey,
  toPublicJwk,
} from "./public_key.ts";
import { importVerificationKey } from "./verification_key.ts";
import { isKid } from "../bytes/json_object.ts";

/**
 * Signs with a key that may live anywhere: this package's hold the private part
 * in the platform, where nothing can read it; a key service would fit as well.
 */
export interface SigningKey {
  /** The key's identifier. */
  readonly kid: string;
  /** The public part, as it is published in a key set. */
  readonly publicJwk: Jwk;
  /** The 64 bytes of the Ed25519 signature of these bytes. */
  sign(message: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;
}

/** ASN.1 around the 32 bytes of an Ed25519 seed in PKCS #8 (RFC 8410 §7). */
export const PKCS8_PREFIX: Uint8Array = Uint8Array.of(
  ...[0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06],
  ...[0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
);

/** No JWS signing input looks like this: it has no dot. */
const SELF_TEST = new TextEncoder().encode("sig signing key self-test");

/**
 * Imports a private Ed25519 JWK and tests it by signing and verifying once: a
 * JWK whose `x` belongs to another `d` imports without complaint, and would
 * write signatures that can't be verified. Without a `kid` the key's is its
 * RFC 7638 thumbprint. `use`, `alg` and `key_ops`, where they are given, must
 * allow signing.
 *
 * The key can't be read back: neither JSON, nor `console.log`, nor the
 * platform's export shows the private part. (docs/protocol.md §2.5)
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
 * @throws {SigError} `invalid_key`, with the reason and never the key.
 */
export async function importSigningKey(jwk: unknown): Promise<SigningKey> {
  if (!isObject(jwk)) throw invalidKey("it must be a JWK object");
  readPublicKey(jwk);
  const kid = readKid(jwk);
  requireSigningUse(jwk, kid);
  const seed = decode32(jwk, "d");
  const bare: Jwk = { kty: "OKP", crv: "Ed25519", x: jwk.x as string };
  const named = { ...bare, kid: kid ?? await calculateKid(bare) };
  // By way of PKCS #8 the platform derives the public key itself: signing for a
  // wrong `x` would reveal the private key to a reader of two signatures.
  const pkcs8 = joinBytes([PKCS8_PREFIX, seed]);
  seed.fill(0);
  const key = new PlatformSigningKey(
    named.kid,
    toPublicJwk(named),
    await importPkcs8(pkcs8, kid),
    pkcs8,
  );
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
    pkcs8.fill(0);
    throw invalidKey("this platform's WebCrypto refuses it", kid);
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

/**
 * Signatures by WebCrypto before `node:crypto` takes over, which saves some 20
 * to 40 µs a signature and takes 30 to 60 ms to load in Deno: from about here on
 * it pays; a program that signs a few events never waits for it.
 */
const WEB_SIGNATURES = 1_024;

/**
 * Signs by WebCrypto, and in bulk by `node:crypto`, which imports the same
 * PKCS #8 for itself: taking over the `CryptoKey` by `KeyObject.from` would give
 * up that it can't be exported, and is deprecated for that (DEP0204 of Node.js).
 */
class PlatformSigningKey implements SigningKey {
  readonly kid: string;
  readonly publicJwk: Jwk;
  /** Not extractable. */
  readonly #web: CryptoKey;
  #webLeft = WEB_SIGNATURES;
  /** Zeros and gone as soon as nothing can import them any more. */
  #pkcs8: Uint8Array | undefined;
  #signInBulk: ((message: Uint8Array) => Uint8Array) | undefined;

  constructor(
    kid: string,
    publicJwk: Jwk,
    web: CryptoKey,
    pkcs8: Uint8Array,
  ) {
    this.kid = kid;
    this.publicJwk = Object.freeze(publicJwk);
    this.#web = web;
    this.#pkcs8 = pkcs8;
    if (!hasBuiltins()) this.#forget();
  }

  async sign(message: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#pkcs8 !== undefined && --this.#webLeft < 0) {
      this.#signInBulk = takeOver(this.#pkcs8);
      this.#forget();
    }
    if (this.#signInBulk) return new Uint8Array(this.#signInBulk(message));
    const copy = message.slice();
    const signature = await crypto.subtle.sign("Ed25519", this.#web, copy);
    return new Uint8Array(signature);
  }

  #forget(): void {
    this.#pkcs8?.fill(0);
    this.#pkcs8 = undefined;
  }
}

/** Undefined where there is no `node:crypto`, or it refuses the key. */
function takeOver(
  pkcs8: Uint8Array,
): ((message: Uint8Array) => Uint8Array) | undefined {
  try {
    const node = loadNodeCrypto();
    const key = node?.createPrivateKey({
      key: pkcs8,
      format: "der",
      type: "pkcs8",
    });
    return node && key && ((message) => node.sign(null, message, key));
  } catch {
    return undefined;
  }
}

/** Options of {@linkcode generateSigningKey}. */
export interface GenerateSigningKeyOptions {
  /** 1–256 characters (default: the RFC 7638 thumbprint). */
  readonly kid?: string;
}

/**
 * Makes a private Ed25519 key as a JWK. Store it where only the owner can read it;
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
