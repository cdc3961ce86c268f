/** Short names of a state's rows, by which they are listed. @module */

/** Hexadecimal digits of a digest: 32 bits that choose a bucket, 24 more. */
export const DIGEST_LENGTH = 14;

/** What chooses the bucket. */
export function hashOf(digest: string): number {
  return parseInt(digest.slice(0, 8), 16);
}

/** A digest as two numbers, the first of which chooses the bucket. */
export type PackedDigest = readonly [hash: number, rest: number];

/** A digest as text. */
export function unpackDigest([hash, rest]: PackedDigest): string {
  return hex(hash, 8) + hex(rest, 6);
}

/**
 * Makes the digests of a state's keys. They begin with the state's random name:
 * else an issuer could choose identifiers that all come into one bucket.
 */
export function createPackedDigests(
  state: string,
): (key: string) => PackedDigest {
  const begin = lanes(state, [0x9e3779b9, 0x85ebca6b]);
  return (key) => {
    const [a, b] = lanes(key, begin);
    return [finished(a ^ b >>> 5), finished(b) >>> 8];
  };
}

/** The same as texts. */
export function createDigests(state: string): (key: string) => string {
  const digestOf = createPackedDigests(state);
  return (key) => unpackDigest(digestOf(key));
}

/** Whether one is among digests of the same length, one behind the other. */
export function holdsDigest(digests: string, digest: string): boolean {
  for (let at = 0; at < digests.length; at += digest.length) {
    if (digests.startsWith(digest, at)) return true;
  }
  return false;
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
