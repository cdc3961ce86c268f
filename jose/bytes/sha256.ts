/** SHA-256 (FIPS 180-4) in pieces, with a state that can be stored. @module */

import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";
import { encodeHex } from "@std/encoding/hex";

const BLOCK = 64;

/** Offset of the length in the last block. */
const LENGTH_AT = 56;

/**
 * The fractions of the square roots of the first 8 primes, and of the cube
 * roots of the first 64 (§5.3.3, §4.2.2). They are exact: a double has more
 * precision than the 32 bits used.
 */
const [INITIAL, K] = constants();

function constants(): readonly [Int32Array, Int32Array] {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  const fraction = (root: number) => (root - Math.floor(root)) * 2 ** 32 | 0;
  return [
    Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  ];
}

/** A digest in progress, whose state can be saved. */
export class Sha256 {
  readonly #h: Int32Array;
  readonly #rest = new Uint8Array(BLOCK);
  readonly #w = new Int32Array(BLOCK);
  #bytes = 0;

  /** Begins a digest, or copies another one. */
  constructor(from?: Sha256) {
    this.#h = (from === undefined ? INITIAL : from.#h).slice();
    if (from === undefined) return;
    this.#rest.set(from.#rest);
    this.#bytes = from.#bytes;
  }

  /** Adds the next bytes. */
  update(bytes: Uint8Array): this {
    let at = 0;
    const filled = this.#bytes % BLOCK;
    this.#bytes += bytes.length;
    if (filled > 0) {
      at = Math.min(BLOCK - filled, bytes.length);
      this.#rest.set(bytes.subarray(0, at), filled);
      if (filled + at < BLOCK) return this;
      this.#compress(this.#rest, 0);
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.#compress(bytes, at);
    this.#rest.set(bytes.subarray(at));
    return this;
  }

  /** Returns the digest of the bytes so far; more bytes may be added. */
  digest(): Uint8Array<ArrayBuffer> {
    return new Sha256(this).#finish();
  }

  /** Returns the digest in hexadecimal. */
  hex(): string {
    return encodeHex(this.digest());
  }

  /** Returns the state as a text for {@linkcode load}. */
  save(): string {
    const filled = this.#bytes % BLOCK;
    const saved = new DataView(new ArrayBuffer(40 + filled));
    this.#h.forEach((word, i) => saved.setInt32(4 * i, word));
    saved.setBigUint64(32, BigInt(this.#bytes));
    const bytes = new Uint8Array(saved.buffer);
    bytes.set(this.#rest.subarray(0, filled), 40);
    return encodeBase64Url(bytes);
  }

  /** Restores a saved state; returns undefined for any other text. */
  static load(text: string): Sha256 | undefined {
    let bytes: Uint8Array;
    try {
      bytes = decodeBase64Url(text);
    } catch {
      return undefined;
    }
    if (bytes.length < 40) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const length = Number(view.getBigUint64(32));
    if (bytes.length !== 40 + length % BLOCK) return undefined;
    const hash = new Sha256();
    for (let i = 0; i < 8; i++) hash.#h[i] = view.getInt32(4 * i);
    hash.#rest.set(bytes.subarray(40));
    hash.#bytes = length;
    return hash;
  }

  #finish(): Uint8Array<ArrayBuffer> {
    const rest = this.#rest;
    const bits = 8 * this.#bytes;
    let filled = this.#bytes % BLOCK;
    rest[filled++] = 0x80;
    if (filled > LENGTH_AT) {
      rest.fill(0, filled);
      this.#compress(rest, 0);
      filled = 0;
    }
    rest.fill(0, filled);
    new DataView(rest.buffer).setBigUint64(LENGTH_AT, BigInt(bits));
    this.#compress(rest, 0);
    const digest = new DataView(new ArrayBuffer(32));
    this.#h.forEach((word, i) => digest.setInt32(4 * i, word));
    return new Uint8Array(digest.buffer);
  }

  #compress(bytes: Uint8Array, at: number): void {
    const w = this.#w;
    for (let i = 0; i < 16; i++, at += 4) {
      w[i] = bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 |
        bytes[at + 3]!;
    }
    for (let i = 16; i < BLOCK; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
      const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
      w[i] = w[i - 16]! + s0 + w[i - 7]! + s1 | 0;
    }
    const h = this.#h;
    let a = h[0]!, b = h[1]!, c = h[2]!, d = h[3]!;
    let e = h[4]!, f = h[5]!, g = h[6]!, z = h[7]!;
    for (let i = 0; i < BLOCK; i++) {
      const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^
        (e >>> 25 | e << 7);
      const t1 = z + s1 + (e & f ^ ~e & g) + K[i]! + w[i]! | 0;
      const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^
        (a >>> 22 | a << 10);
      const t2 = s0 + (a & b ^ a & c ^ b & c) | 0;
      z = g;
      g = f;
      f = e;
      e = d + t1 | 0;
      d = c;
      c = b;
      b = a;
      a = t1 + t2 | 0;
    }
    h[0] = h[0]! + a | 0;
    h[1] = h[1]! + b | 0;
    h[2] = h[2]! + c | 0;
    h[3] = h[3]! + d | 0;
    h[4] = h[4]! + e | 0;
    h[5] = h[5]! + f | 0;
    h[6] = h[6]! + g | 0;
    h[7] = h[7]! + z | 0;
  }
}
