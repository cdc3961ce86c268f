/** Short names of a state's rows, by which they are listed. @module */

/** Hexadecimal digits of a digest: 32 bits that choose a bucket, 24 more. */
export const DIGEST_LENGTH = 14;

/** What chooses the bucket. */
export function hashOf(digest: string): number {
  return parseInt(digest.slice(0, 8), 16);
}

/**
 * Makes the digests of a state's keys. They begin with the state's random name:
 * else an issuer could choose identifiers that all come into one bucket.
 */
export function createDigests(state: string): (key: string) => string {
  const begin = lanes(state, [0x9e3779b9, 0x85ebca6b]);
  return (key) => {
    const [a, b] = lanes(key, begin);
    return hex(finished(a ^ b >>> 5), 8) + hex(finished(b) >>> 8, 6);
  };
}

function lanes(
  text: string,
  [a, b]: readonly [number, number],
): readonly [number, number] {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x5bd1e995);
    b ^= b >>> 13;
  }
  return [a, b];
}

/** 32 bits, each of which all others had a part in. */
function finished(lane: number): number {
  const half = Math.imul(lane ^ lane >>> 16, 0x7feb352d);
  const whole = Math.imul(half ^ half >>> 15, 0x846ca68b);
  return (whole ^ whole >>> 16) >>> 0;
}

function hex(value: number, length: number): string {
  return value.toString(16).padStart(length, "0");
}
