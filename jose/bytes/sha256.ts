/** SHA-256 (FIPS 180-4) in pieces, with a state that can be stored. @module */

import { encodeHex } from "@std/encoding/hex";

const BLOCK = 64;
/** Offset of the length in the last block. */
const LENGTH_AT = 56;
const WORDS = 8;
/** Offsets in a saved state: the words, the length, the incomplete block. */
const SAVED = { bytes: 4 * WORDS, rest: 4 * WORDS + 8 } as const;
/** Size in bytes of a saved state with a whole block. */
export const MAX_STATE_BYTES: number = SAVED.rest + BLOCK;

/**
 * The fractions of the square roots of the first 8 primes, and of the cube
 * roots of the first 64 (§5.3.3, §4.2.2). They are exact: a double has more
 * precision than the 32 bits used.
 */
const [INITIAL, K] = constants();

function constants(): readonly [Int32Array, Int32Array] {
  const primes: number[] = [];
  for (let n = 2; primes.length < BLOCK; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  const fraction = (root: number) => (root - Math.floor(root)) * 2 ** 32 | 0;
  return [
    Int32Array.from(
      primes.slice(0, WORDS),
      (prime) => fraction(Math.sqrt(prime)),
    ),
    Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  ];
}

/** A digest in progress, whose state can be saved. */
export class Sha256State {
  readonly #h = INITIAL.slice();
  readonly #rest = new Uint8Array(BLOCK);
  readonly #w = new Int32Array(BLOCK);
  #bytes = 0;

  /** The number of bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins again, as a new digest. */
  reset(): this {
    this.#h.set(INITIAL);
    this.#bytes = 0;
    return this;
  }

  /** Adds the next bytes. */
  update(bytes: Uint8Array): this {
    let at = 0;
    const filled = this.#bytes % BLOCK;
    this.#bytes += bytes.length;
    if (filled > 0) {
      at = Math.min(BLOCK - filled, bytes.length);
      this.#fill(filled, bytes, 0, at);
      if (filled + at < BLOCK) return this;
      this.#compress(this.#rest, 0);
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.#compress(bytes, at);
    this.#fill(0, bytes, at, bytes.length);
    return this;
  }

  /** Returns the digest of the bytes so far; more bytes may be added. */
  digest(): Uint8Array<ArrayBuffer> {
    const h = this.#h.slice();
    const rest = this.#rest.slice();
    const digest = this.finish();
    this.#h.set(h);
    this.#rest.set(rest);
    return digest;
  }

  /** Returns the digest and ends: only a {@linkcode reset} may follow. */
  finish(): Uint8Array<ArrayBuffer> {
    const rest = this.#rest;
    let filled = this.#bytes % BLOCK;
    rest[filled++] = 0x80;
    if (filled > LENGTH_AT) {
      rest.fill(0, filled);
      this.#compress(rest, 0);
      filled = 0;
    }
    rest.fill(0, filled);
    writeNumber(rest, LENGTH_AT, 8 * this.#bytes);
    this.#compress(rest, 0);
    const digest = new Uint8Array(4 * WORDS);
    writeWords(digest, 0, this.#h);
    return digest;
  }

  /** Returns the digest in hexadecimal. */
  hex(): string {
    return encodeHex(this.digest());
  }

  /**
   * Writes the state to {@linkcode MAX_STATE_BYTES} bytes at an offset, for
   * {@linkcode loadFrom}.
   */
  saveTo(target: Uint8Array, at: number): void {
    writeWords(target, at, this.#h);
    writeNumber(target, at + SAVED.bytes, this.#bytes);
    target.set(this.#rest, at + SAVED.rest);
  }

  /** Continues the state that {@linkcode saveTo} has written. */
  loadFrom(source: Uint8Array, at: number): this {
    for (let i = 0; i < WORDS; i++) this.#h[i] = readWord(source, at + 4 * i);
    this.#bytes = readNumber(source, at + SAVED.bytes);
    const rest = at + SAVED.rest;
    this.#fill(0, source, rest, rest + this.#bytes % BLOCK);
    return this;
  }

  /** Copies bytes to the incomplete block. */
  #fill(filled: number, bytes: Uint8Array, from: number, to: number): void {
    const rest = this.#rest;
    for (let at = from; at < to;) rest[filled++] = bytes[at++]!;
  }

  #compress(bytes: Uint8Array, at: number): void {
    const w = this.#w;
    for (let i = 0; i < 16; i++, at += 4) w[i] = readWord(bytes, at);
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
      const t1 = z + s1 + (g ^ e & (f ^ g)) + K[i]! + w[i]! | 0;
      const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^
        (a >>> 22 | a << 10);
      const t2 = s0 + (a & b | c & (a | b)) | 0;
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

function readWord(bytes: Uint8Array, at: number): number {
  return bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 |
    bytes[at + 3]!;
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >> 24;
  bytes[at + 1] = word >> 16;
  bytes[at + 2] = word >> 8;
  bytes[at + 3] = word;
}

function writeWords(bytes: Uint8Array, at: number, words: Int32Array): void {
  for (let i = 0; i < words.length; i++) {
    writeWord(bytes, at + 4 * i, words[i]!);
  }
}

/** Reads 64 bits, of which at most 53 are used. */
function readNumber(bytes: Uint8Array, at: number): number {
  return (readWord(bytes, at) >>> 0) * 2 ** 32 +
    (readWord(bytes, at + 4) >>> 0);
}

function writeNumber(bytes: Uint8Array, at: number, value: number): void {
  writeWord(bytes, at, value / 2 ** 32);
  writeWord(bytes, at + 4, value);
}

/** Reused, since its buffers take longer to make than a short text to hash. */
const state = new Sha256State();

/**
 * Returns the SHA-256 (32 bytes) of the concatenated pieces. A tree needs
 * thousands of digests of 65 bytes: for them this takes a fifth of the time of
 * `node:crypto`, and WebCrypto's is asynchronous.
 *
 * @example
 * ```ts
 * import { sha256 } from "@sig/jose/proofs";
 * import { assertEquals } from "@std/assert";
 * import { encodeHex } from "@std/encoding/hex";
 *
 * assertEquals(encodeHex(sha256()).slice(0, 16), "e3b0c44298fc1c14");
 * ```
 */
export function sha256(...pieces: readonly Uint8Array[]): Uint8Array {
  state.reset();
  for (const piece of pieces) state.update(piece);
  return state.finish();
}
