/**
 * The byte checks that make every platform's verifier a strict one
 * (docs/protocol.md §2.5): S < L, canonical points, no point of small order.
 *
 * All constants are little-endian, as RFC 8032 encodes numbers.
 *
 * @module
 */

import { decodeHex } from "@std/encoding/hex";

/** Bytes of a public key. */
export const PUBLIC_KEY_BYTES = 32;

/** Bytes of a signature: R, then S. */
export const SIGNATURE_BYTES = 64;

/**
 * The y coordinates of the eight points of small order: 0, 1, -1 and the two
 * of order 8. Under such a key signatures can be forged without any private
 * key.
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

/** Why a point encoding is refused. */
export type PointFault = "non-canonical" | "small-order";

/**
 * Judges the first 32 bytes as a point encoding, without saying whether it
 * lies on the curve. The eight points of small order, with all their
 * non-canonical spellings, are the 14 encodings known from attacks.
 */
export function findPointFault(bytes: Uint8Array): PointFault | undefined {
  if (!isBelowP(bytes)) return "non-canonical";
  // x = 0 with the sign bit set is non-canonical as well; its y are 1 and -1,
  // which the list refuses with either sign.
  if (SMALL_ORDER_Y.some((y) => hasY(bytes, y))) return "small-order";
  return undefined;
}

/**
 * Whether a signature is worth giving to the platform: 64 bytes, S < L (else
 * one signature has several spellings), R canonical and not of small order.
 * `VerificationKey.verify` asks this itself; it is for those who let the
 * platform verify elsewhere. (docs/protocol.md §2.5)
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

/** y < p = 2^255 - 19, the sign bit left aside. */
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

/** S, the last 32 of the 64 bytes, below L. */
function isBelowL(signature: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) {
    const s = signature[32 + i] ?? 0;
    const l = L[i] ?? 0;
    if (s !== l) return s < l;
  }
  return false;
}

/** The field's prime, 2^255 - 19. */
const P = 2n ** 255n - 19n;

/** The curve's constant, -121665/121666. */
const D =
  37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Whether an encoding names a point of the curve at all. WebCrypto imports
 * off-curve keys everywhere and `node:crypto` throws on them in Deno, so the
 * answer is computed here, alike on every platform. Public input only: the time
 * it takes reveals nothing.
 *
 * A canonical y has an x: x² = (y² - 1) / (d·y² + 1) must be a square.
 * The quotient is one exactly if the product is, and d·y² + 1 is never 0.
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

/** z^((p-1)/2) = z^(2^254 - 10): 1 for a square, -1 for any other. */
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

/** z squared `times` times. */
function squareOf(z: bigint, times = 1): bigint {
  let result = z;
  for (let i = 0; i < times; i++) result = (result * result) % P;
  return result;
}
