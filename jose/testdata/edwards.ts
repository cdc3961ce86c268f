/** Arithmetic of edwards25519 with bigints, to verify constants. */

/** The prime of the field. */
export const P = 2n ** 255n - 19n;
/** The order of the base point. */
export const L = 2n ** 252n + 27742317777372353535851937790883648493n;

const D = mod(-121665n * inverse(121666n));

type Point = readonly [x: bigint, y: bigint];

function mod(a: bigint): bigint {
  return ((a % P) + P) % P;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = mod(b * b)) {
    if (e & 1n) result = mod(result * b);
  }
  return result;
}

function inverse(a: bigint): bigint {
  return power(a, P - 2n);
}

function add([x1, y1]: Point, [x2, y2]: Point): Point {
  const t = mod(D * mod(x1 * x2) * mod(y1 * y2));
  return [
    mod((x1 * y2 + x2 * y1) * inverse(1n + t)),
    mod((y1 * y2 + x1 * x2) * inverse(1n - t)),
  ];
}

function multiply(point: Point, times: bigint): Point {
  let result: Point = [0n, 1n];
  for (let p = point, n = times; n > 0n; n >>= 1n, p = add(p, p)) {
    if (n & 1n) result = add(result, p);
  }
  return result;
}

/** Returns one of the two x of a y; undefined off the curve. */
export function findX(y: bigint): bigint | undefined {
  const square = mod((y * y - 1n) * inverse(D * y * y + 1n));
  const candidate = power(square, (P + 3n) / 8n);
  const root = mod(candidate * candidate) === square
    ? candidate
    : mod(candidate * power(2n, (P - 1n) / 4n));
  return mod(root * root) === square ? root : undefined;
}

/** Returns a number as 32 bytes, little-endian. */
export function encodeNumber(n: bigint): Uint8Array {
  return Uint8Array.from(
    { length: 32 },
    (_, i) => Number((n >> BigInt(8 * i)) & 0xffn),
  );
}

/**
 * Returns every y of a point whose order divides 8, by multiplying points by L.
 */
export function smallOrderYs(): readonly bigint[] {
  const found = new Set<bigint>();
  for (let y = 2n; found.size < 5; y++) {
    const x = findX(y);
    if (x === undefined) continue;
    const torsion = multiply([x, y], L);
    for (let k = 0n; k < 8n; k++) found.add(multiply(torsion, k)[1]);
  }
  return [...found].sort((a, b) => (a < b ? -1 : 1));
}
