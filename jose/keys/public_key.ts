/** Strict parsing of the public part of Ed25519 JWKs. @module */

import {
  type ErrorContext,
  type Jwk,
  type OpenObject,
  SigError,
} from "@sig/core";
import {
  decodeBase64UrlStrict,
  isKid,
  isObject,
  member,
} from "@sig/core/internal";
import { encodeBase64Url } from "../bytes/bytes.ts";
import { sha256 } from "../bytes/sha256.ts";
import {
  findPointFault,
  isOnCurve,
  type PointFault,
  PUBLIC_KEY_BYTES,
} from "../bytes/ed25519_bytes.ts";

/** A valid Ed25519 public key. */
export interface PublicKey {
  /** The bytes in canonical base64url. */
  readonly x: string;
  /** The 32 bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const POINT_HINTS: Readonly<Record<PointFault, string>> = {
  "non-canonical":
    "x is not a canonical point encoding (expected y < 2^255-19)",
  "small-order":
    "x is a point of small order, under which signatures can be forged",
};

/** Creates an `invalid_key` error. The reason must not contain the key. */
export function invalidKey(why: string, kid?: unknown): SigError {
  const context: ErrorContext = isKid(kid) ? { kid } : {};
  return new SigError("invalid_key", {
    action: "use key",
    reason: why,
    context,
  });
}

/**
 * Reads `kty`, `crv` and `x`, and ignores other members.
 *
 * @throws {SigError} `invalid_key`.
 */
export function readPublicKey(jwk: unknown): PublicKey {
  if (!isObject(jwk)) throw invalidKey("it must be a JWK object");
  const kid = member(jwk, "kid");
  if (member(jwk, "kty") !== "OKP" || member(jwk, "crv") !== "Ed25519") {
    throw invalidKey('it must have "kty" OKP and "crv" Ed25519', kid);
  }
  const x = member(jwk, "x");
  const bytes = decode32(jwk, "x");
  const fault = findPublicKeyFault(bytes);
  if (fault !== undefined) throw invalidKey(fault, kid);
  return { x: x as string, bytes };
}

/**
 * Reads the `kid` of a key; undefined if absent.
 *
 * @throws {SigError} `invalid_key`.
 */
export function readKid(jwk: unknown): string | undefined {
  const kid = isObject(jwk) ? member(jwk, "kid") : undefined;
  if (kid === undefined || isKid(kid)) return kid;
  throw invalidKey(
    "kid must be 1 to 256 characters, none of them a control character",
  );
}

/** Returns why 32 bytes are not a usable public key; undefined if they are. */
export function findPublicKeyFault(bytes: Uint8Array): string | undefined {
  const fault = findPointFault(bytes);
  if (fault !== undefined) return POINT_HINTS[fault];
  return isOnCurve(bytes) ? undefined : "x is not a point on the curve";
}

/**
 * Decodes a member of exactly 32 bytes in canonical base64url.
 *
 * @throws {SigError} `invalid_key`.
 */
export function decode32(
  jwk: OpenObject,
  name: "x" | "d",
): Uint8Array<ArrayBuffer> {
  const text = member(jwk, name);
  const kid = member(jwk, "kid");
  if (typeof text !== "string") {
    throw invalidKey(`member ${name} must be a string`, kid);
  }
  const bytes = decodeBase64UrlStrict(text);
  if (bytes === undefined) {
    throw invalidKey(
      `${name} must be base64url without padding, white space or trailing bits`,
      kid,
    );
  }
  if (bytes.length !== PUBLIC_KEY_BYTES) {
    throw invalidKey(`${name} has ${bytes.length} bytes (expected 32)`, kid);
  }
  return bytes;
}

/**
 * Returns the public part of a key as published in a key set (docs/protocol.md
 * §1): `kty`, `crv`, `x`, the `kid` if present, `use` `sig` and `alg` `EdDSA`,
 * in this order. Other members are dropped.
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

/**
 * Calculates the RFC 7638 thumbprint (SHA-256, base64url) of a public or
 * private key, a kid that identifies exactly one key. Only `kty`, `crv` and `x`
 * are included.
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
// deno-lint-ignore require-await -- rejects for an invalid key
export async function calculateKid(jwk: Jwk): Promise<string> {
  return calculateKidOf({ jwk: readPublicKey(jwk) });
}

/**
 * Calculates the thumbprint of an imported key, without further checks.
 *
 * @example
 * ```ts
 * import { calculateKid, importVerificationKey } from "@sig/jose";
 * import { calculateKidOf } from "@sig/jose/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
 * const jwk = { kty: "OKP", crv: "Ed25519", x, kid: "orgsign-1" } as const;
 * const key = await importVerificationKey(jwk);
 * assertEquals(calculateKidOf(key), await calculateKid(jwk));
 * ```
 */
export function calculateKidOf(
  { jwk: { x } }: { readonly jwk: { readonly x: string } },
): string {
  // The members in this order, without spaces (RFC 7638 §3).
  const text = JSON.stringify({ crv: "Ed25519", kty: "OKP", x });
  return encodeBase64Url(sha256(new TextEncoder().encode(text)));
}
