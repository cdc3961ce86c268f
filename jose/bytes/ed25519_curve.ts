/**
 * Whether an encoding names a point of the curve at all. WebCrypto imports
 * off-curve keys everywhere and `node:crypto` throws on them in Deno, so the
 * answer is computed here, alike on every platform. Public input only: the
 * time it takes reveals nothing.
 *
 * @module
 */

/** The field's prime, 2^255 - 19. */
const P = 2n ** 255n - 19n;

/** The curve's constant, -121665/121666. */
const D =
  37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Whether a canonical y has an x: x² = (y² - 1) / (d·y² + 1) must be a square.
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
