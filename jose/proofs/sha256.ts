/** SHA-256 (FIPS 180-4), synchronous on every platform. @module */

import { joinBytes } from "@sig/core/internal";
import { loadBuiltin } from "../keys/platform.ts";

/** Digests some pieces, read one after the other, to 32 bytes. */
export type Sha256 = (...pieces: readonly Uint8Array[]) => Uint8Array;

interface NodeHash {
  update(piece: Uint8Array): NodeHash;
  digest(): Uint8Array;
}

/**
 * The platform's SHA-256 where it has a synchronous one (Deno and Node.js),
 * otherwise one in plain JavaScript: WebCrypto's returns promises, and a tree
 * needs thousands of digests of 65 bytes.
 *
 * @example
 * ```ts
 * import { createSha256 } from "@sig/jose/proofs";
 * import { assertEquals } from "@std/assert";
 * import { encodeHex } from "@std/encoding/hex";
 *
 * const sha256 = createSha256();
 * assertEquals(encodeHex(sha256()).slice(0, 16), "e3b0c44298fc1c14");
 * ```
 */
export function createSha256(): Sha256 {
  const node = loadBuiltin("node:crypto") as
    | { createHash?(name: string): NodeHash }
    | undefined;
  if (typeof node?.createHash !== "function") return createPlainSha256();
  return (...pieces) => {
    const hash = node.createHash!("sha256");
    for (const piece of pieces) hash.update(piece);
    return new Uint8Array(hash.digest());
  };
}

/** {@linkcode createSha256} for platforms without a synchronous digest. */
export function createPlainSha256(): Sha256 {
  const [roundConstants, start] = constants();
  return (...pieces) => {
    const message = joinBytes(pieces);
    const padded = new Uint8Array((message.length + 72) & ~63);
    padded.set(message);
    padded[message.length] = 0x80;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 8, Math.floor(message.length / 2 ** 29));
    view.setUint32(padded.length - 4, message.length << 3);
    const state = start.slice();
    const w = new Uint32Array(64);
    for (let block = 0; block < padded.length; block += 64) {
      compress(state, w, view, block, roundConstants);
    }
    const digest = new Uint8Array(32);
    const out = new DataView(digest.buffer);
    state.forEach((word, i) => out.setUint32(4 * i, word));
    return digest;
  };
}

function compress(
  state: Uint32Array,
  w: Uint32Array,
  view: DataView,
  block: number,
  k: Uint32Array,
): void {
  for (let i = 0; i < 16; i++) w[i] = view.getUint32(block + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!, y = w[i - 2]!;
    w[i] = w[i - 16]! + (rotate(x, 7) ^ rotate(x, 18) ^ x >>> 3) +
      w[i - 7]! + (rotate(y, 17) ^ rotate(y, 19) ^ y >>> 10);
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as EightWords;
  for (let i = 0; i < 64; i++) {
    const t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
        (e & f ^ ~e & g) + k[i]! + w[i]! | 0;
    const t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
        (a & b ^ a & c ^ b & c) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, d + t1 | 0, c, b, a, t1 + t2 | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => state[i]! += word);
}

type EightWords = [
  ...[number, number, number, number],
  ...[number, number, number, number],
];

function rotate(word: number, by: number): number {
  return word >>> by | word << 32 - by;
}

/**
 * The fractions of the cube roots of the first 64 primes, and of the square
 * roots of the first 8 (FIPS 180-4 §4.2.2, §5.3.3). Exact: a double keeps more
 * than the 32 bits of the fraction that are used.
 */
function constants(): readonly [Uint32Array, Uint32Array] {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  const fraction = (root: number) => (root - Math.floor(root)) * 2 ** 32;
  return [
    Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
    Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
  ];
}
