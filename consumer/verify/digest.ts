/** SHA-256 of a feed while it streams by. @module */

import { encodeHex } from "@std/encoding/hex";
import { loadBuiltin } from "@sig/jose/internal";
import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";

/** A hash that is made piece by piece, as `node:crypto` has it. */
export interface PiecewiseHash {
  /** Takes the next bytes. */
  update(bytes: Uint8Array): unknown;
  /** Another one that has taken the same bytes. */
  copy(): PiecewiseHash;
  /** The digest; no bytes may follow. */
  digest(encoding: "hex"): string;
}

interface NodeCrypto {
  readonly createHash?: (name: string) => PiecewiseHash;
}

/**
 * Up to here the bytes are kept and digested by WebCrypto at the end: loading
 * `node:crypto` costs more than that. Beyond, memory must stay flat.
 */
const MAX_KEPT_BYTES = 1024 * 1024;

/**
 * Digests bytes as they come. Where there is no `node:crypto` all of them are
 * kept, since WebCrypto can't digest piece by piece.
 */
export class FeedDigest {
  readonly #maxKeptBytes: number;
  #kept: Uint8Array<ArrayBuffer>[] = [];
  #keptBytes = 0;
  #hash: PiecewiseHash | undefined;

  /**
   * With `maxKeptBytes` 0 no bytes are kept where that can be avoided; a hash
   * that is given goes on with what it has taken.
   */
  constructor(maxKeptBytes: number = MAX_KEPT_BYTES, hash?: PiecewiseHash) {
    this.#maxKeptBytes = maxKeptBytes;
    if (hash !== undefined) this.#hash = hash;
    else if (maxKeptBytes === 0) this.#hash = createNodeHash();
  }

  /** Takes the next bytes. */
  update(bytes: Uint8Array): void {
    if (this.#hash === undefined && this.#keptBytes > this.#maxKeptBytes) {
      this.#hash = createNodeHash();
      if (this.#hash !== undefined) {
        for (const each of this.#kept) this.#hash.update(each);
        this.#kept = [];
      }
    }
    if (this.#hash !== undefined) {
      this.#hash.update(bytes);
    } else {
      this.#kept.push(bytes.slice());
      this.#keptBytes += bytes.length;
    }
  }

  /** The same bytes, each taken when it passes. */
  async *follow(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.update(chunk);
      yield chunk;
    }
  }

  /** The digest of all bytes so far, in hexadecimal; more may follow. */
  async hex(): Promise<string> {
    if (this.#hash !== undefined) return this.#hash.copy().digest("hex");
    const all = await new Blob(this.#kept).arrayBuffer();
    return encodeHex(await crypto.subtle.digest("SHA-256", all));
  }

  /** What digests; undefined where the bytes are kept. */
  get hash(): PiecewiseHash | undefined {
    return this.#hash;
  }

  /** Whether the bytes themselves are kept. */
  get keepsBytes(): boolean {
    return this.#hash === undefined;
  }
}

function createNodeHash(): PiecewiseHash | undefined {
  const crypto = loadBuiltin("node:crypto") as NodeCrypto | undefined;
  return crypto?.createHash?.("sha256");
}

const BLOCK = 64;

/** Where the number of bits stands in the last block. */
const LENGTH_AT = 56;

/** Fractions of the square and cube roots of the first primes (§4.2.2, §5.3.3). */
const [INITIAL, K] = constants();

function constants(): readonly [Int32Array, Int32Array] {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  // Roots of n·2^(32k) in whole numbers: a double has too few digits.
  const root = (n: number, k: 2 | 3): number => {
    const target = BigInt(n) << BigInt(32 * k);
    let low = 0n;
    let high = 1n << 40n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** BigInt(k) <= target) low = middle;
      else high = middle;
    }
    return Number(BigInt.asIntN(32, low));
  };
  return [
    Int32Array.from(primes.slice(0, 8), (prime) => root(prime, 2)),
    Int32Array.from(primes, (prime) => root(prime, 3)),
  ];
}

/** A digest in progress. */
export class Sha256 implements PiecewiseHash {
  readonly #h: Int32Array;
  readonly #rest = new Uint8Array(BLOCK);
  readonly #w = new Int32Array(BLOCK);
  #bytes = 0;

  constructor(from?: Sha256) {
    this.#h = (from === undefined ? INITIAL : from.#h).slice();
    if (from === undefined) return;
    this.#rest.set(from.#rest);
    this.#bytes = from.#bytes;
  }

  /** Takes the next bytes. */
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

  /** Another one that has taken the same bytes. */
  copy(): Sha256 {
    return new Sha256(this);
  }

  /** The digest of the bytes so far; more may follow. */
  bytes(): Uint8Array {
    const digest = new Uint8Array(32);
    this.copy().finishInto(digest);
    return digest;
  }

  /** Writes the first bytes of the digest, and begins again. */
  finishInto(target: Uint8Array): void {
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
    const high = Math.floor(bits / 2 ** 32);
    for (let i = 0; i < 4; i++) {
      rest[LENGTH_AT + i] = high >>> 24 - 8 * i;
      rest[LENGTH_AT + 4 + i] = bits >>> 24 - 8 * i;
    }
    this.#compress(rest, 0);
    for (let i = 0; i < target.length; i++) {
      target[i] = this.#h[i >> 2]! >>> 24 - 8 * (i & 3);
    }
    this.#h.set(INITIAL);
    this.#bytes = 0;
  }

  /** The same in hexadecimal. */
  digest(_encoding: "hex" = "hex"): string {
    return encodeHex(this.bytes());
  }

  /** The state as text, for {@linkcode load}. */
  save(): string {
    const filled = this.#bytes % BLOCK;
    const saved = new DataView(new ArrayBuffer(40 + filled));
    this.#h.forEach((word, i) => saved.setInt32(4 * i, word));
    saved.setBigUint64(32, BigInt(this.#bytes));
    const bytes = new Uint8Array(saved.buffer);
    bytes.set(this.#rest.subarray(0, filled), 40);
    return encodeBase64Url(bytes);
  }

  /** Goes on from a saved state; undefined for any other text. */
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
