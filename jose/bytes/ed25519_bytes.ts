/**
 * Byte checks that make every platform's Ed25519 verifier strict
 * (docs/protocol.md §2.5): S < L, canonical points, no point of small order.
 *
 * All constants are little-endian, as in RFC 8032.
 *
 * @module
 */

import { decodeHex } from "@std/encoding/hex";

/** Size of a public key in bytes. */
export const PUBLIC_KEY_BYTES = 32;

/** Size of a signature in bytes: R, then S. */
export const SIGNATURE_BYTES = 64;

/**
 * The y coordinates of the eight points of small order: 0, 1, -1 and the two of
 * order 8. With such a public key, anyone can forge signatures without a
 * private key.
 */
const SMALL_ORDER_Y: readonly Uint8Array[] = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
].map(decodeHex);

/** L, the order of the base point. */
const L = decodeHex(
  "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
);

/** The fault of a point encoding. */
export type PointFault = "non-canonical" | "small-order";

/**
 * Checks whether the first 32 bytes are a canonical encoding and not of small
 * order; does not check the curve. The eight points of small order have 14
 * encodings with all their non-canonical spellings.
 */
export function findPointFault(bytes: Uint8Array): PointFault | undefined {
  if (!isBelowP(bytes)) return "non-canonical";
  // x = 0 with the sign bit set is also non-canonical. Its y is 1 or -1, which
  // the list rejects with either sign.
  if (SMALL_ORDER_Y.some((y) => hasY(bytes, y))) return "small-order";
  return undefined;
}

/**
 * Returns whether a signature passes the strict checks: 64 bytes, S < L
 * (otherwise one signature has several spellings), R canonical and not of small
 * order. `VerificationKey.verify` includes these checks; use this function
 * where the platform verifies elsewhere (docs/protocol.md §2.5).
 *
 * @example
 * ```ts
 * import { isStrictSignature } from "@sig/jose/internal";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(isStrictSignature(new Uint8Array(64)), false);
 * ```
 */
export function isStrictSignature(signature: Uint8Array): boolean {
  return signature.length === SIGNATURE_BYTES && isBelowL(signature) &&
    findPointFault(signature) === undefined;
}

/** Returns whether y < p = 2^255 - 19, without the sign bit. */
function isBelowP(bytes: Uint8Array): boolean {
  if (((bytes[31] ?? 0) & 0x7f) !== 0x7f) return true;
  for (let i = 30; i > 0; i--) {
    if (bytes[i] !== 0xff) return true;
  }
  return (bytes[0] ?? 0) < 0xed;
}

function hasY(bytes: Uint8Array, y: Uint8Array): boolean {
  for (let i = 0; i < 31; i++) {
    if (bytes[i] !== y[i]) return false;
  }
  return ((bytes[31] ?? 0) & 0x7f) === y[31];
}

/** Returns whether S, the last 32 of the 64 bytes, is below L. */
function isBelowL(signature: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) {
    const s = signature[32 + i] ?? 0;
    const l = L[i] ?? 0;
    if (s !== l) return s < l;
  }
  return false;
}

/** The prime of the field, 2^255 - 19. */
const P = 2n ** 255n - 19n;

/** The constant of the curve, -121665/121666. */
const D =
  37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Returns whether an encoding is a point on the curve. WebCrypto imports keys
 * off the curve on every platform, and `node:crypto` throws on them in Deno, so
 * it is computed here. The time is not constant; use it for public input only.
 *
 * A canonical y has an x if x² = (y² - 1) / (d·y² + 1) is a square. The
 * quotient is a square if and only if the product is, and d·y² + 1 is never 0.
 */
export function isOnCurve(publicKey: Uint8Array): boolean {
  const y2 = squareOf(readY(publicKey));
  const product = ((y2 - 1n + P) * (D * y2 + 1n)) % P;
  return product === 0n || eulerCriterion(product) === 1n;
}

function readY(bytes: Uint8Array): bigint {
  let y = 0n;
  for (let i = 31; i >= 0; i--) {
    const byte = i === 31 ? (bytes[i] ?? 0) & 0x7f : bytes[i] ?? 0;
    y = (y << 8n) | BigInt(byte);
  }
  return y;
}

/** Returns z^((p-1)/2) = z^(2^254 - 10): 1 for a square, else -1. */
function eulerCriterion(z: bigint): bigint {
  // ones(n) is z^(2^n - 1); doubling n halves the number of multiplications.
  const ones2 = (squareOf(z) * z) % P;
  const ones4 = (squareOf(ones2, 2) * ones2) % P;
  const ones5 = (squareOf(ones4) * z) % P;
  const ones10 = (squareOf(ones5, 5) * ones5) % P;
  const ones20 = (squareOf(ones10, 10) * ones10) % P;
  const ones40 = (squareOf(ones20, 20) * ones20) % P;
  const ones50 = (squareOf(ones40, 10) * ones10) % P;
  const ones100 = (squareOf(ones50, 50) * ones50) % P;
  const ones200 = (squareOf(ones100, 100) * ones100) % P;
  const ones250 = (squareOf(ones200, 50) * ones50) % P;
  // 2^254 - 10 = (2^250 - 1)·2^4 + 6
  return (squareOf(ones250, 4) * squareOf(ones2)) % P;
}

/** Returns z, squared `times` times. */
function squareOf(z: bigint, times = 1): bigint {
  let result = z;
  for (let i = 0; i < times; i++) result = (result * result) % P;
  return result;
}
