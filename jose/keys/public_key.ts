/** The public part of an Ed25519 JWK, checked to the last bit. @module */

import {
  decodeBase64UrlStrict,
  type ErrorContext,
  isObject,
  type OpenObject,
  SigError,
} from "@sig/core";
import {
  findPointFault,
  type PointFault,
  PUBLIC_KEY_BYTES,
} from "../bytes/ed25519_bytes.ts";
import { isOnCurve } from "../bytes/ed25519_curve.ts";
import { isKid, member } from "../bytes/json_object.ts";

/** A public key that a signature may be verified with. */
export interface PublicKey {
  /** The one base64url spelling of the bytes. */
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

/** `invalid_key`, with the reason. Never with the key's text. */
export function invalidKey(why: string, kid?: unknown): SigError {
  const context: ErrorContext = isKid(kid) ? { kid } : {};
  return new SigError("invalid_key", `Cannot use key: ${why}`, { context });
}

/**
 * Reads `kty`, `crv` and `x`, whatever else there is.
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
 * The `kid` of a key; undefined when it has none.
 *
 * @throws {SigError} `invalid_key`.
 */
export function readKid(jwk: unknown): string | undefined {
  const kid = isObject(jwk) ? member(jwk, "kid") : undefined;
  if (kid === undefined || isKid(kid)) return kid;
  throw invalidKey("kid must be 1 to 256 characters without control ones");
}

/** Why 32 bytes are no key to verify with; undefined when they are one. */
export function findPublicKeyFault(bytes: Uint8Array): string | undefined {
  const fault = findPointFault(bytes);
  if (fault !== undefined) return POINT_HINTS[fault];
  return isOnCurve(bytes) ? undefined : "x is not a point on the curve";
}

/**
 * A member of exactly 32 bytes in canonical base64url.
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
