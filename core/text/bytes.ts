/** Joins and compares bytes, and decodes canonical base64url. @module */

/**
 * Concatenates the pieces into a new array.
 *
 * @param length The total number of bytes, if the caller knows it.
 *
 * @example
 * ```ts
 * import { joinBytes } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const joined = joinBytes([Uint8Array.of(1), Uint8Array.of(2, 3)]);
 * assertEquals(joined, Uint8Array.of(1, 2, 3));
 * ```
 */
export function joinBytes(
  pieces: readonly Uint8Array[],
  length: number = pieces.reduce((sum, piece) => sum + piece.length, 0),
): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/**
 * Returns whether two arrays have the same bytes. Not for secrets, because the
 * time reveals where they differ; use `equalInConstantTime` of `@sig/jose`.
 *
 * @example
 * ```ts
 * import { sameBytes } from "@sig/core/internal";
 * import { assert } from "@std/assert";
 *
 * assert(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2)));
 * assert(!sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3)));
 * ```
 */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

const ALPHABET =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Six bits for each byte of the alphabet, 255 for every other byte. */
const SIX_BITS = /* @__PURE__ */ (() => {
  const table = new Uint8Array(256).fill(255);
  for (let i = 0; i < 64; i++) table[ALPHABET.charCodeAt(i)] = i;
  return table;
})();

const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * Decodes base64url, or returns undefined for anything but the canonical
 * spelling: no padding, no white space, no `+` or `/`, zero trailing bits.
 *
 * The platforms' decoders accept up to 16 spellings of one signature, which
 * would lead to different digests, caches and pins.
 *
 * @example Accept only the canonical spelling
 * ```ts
 * import { decodeBase64UrlStrict } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(decodeBase64UrlStrict("AQI"), new Uint8Array([1, 2]));
 * assertEquals(decodeBase64UrlStrict("AQJ"), undefined); // trailing bits
 * assertEquals(decodeBase64UrlStrict("AQI="), undefined); // padding
 * ```
 */
export function decodeBase64UrlStrict(
  text: string,
): Uint8Array<ArrayBuffer> | undefined {
  // Non-ASCII characters become bytes above 127, which the table rejects.
  const ascii = encoder.encode(text);
  const bytes = new Uint8Array((ascii.length * 3) >> 2);
  const length = decodeBase64UrlInto(ascii, 0, ascii.length, bytes);
  return length < 0 ? undefined : bytes;
}

/**
 * Decodes a part of some bytes into a buffer that is long enough, from an
 * offset on, like {@linkcode decodeBase64UrlStrict}. Returns the number of
 * bytes, or -1.
 */
export function decodeBase64UrlInto(
  ascii: Uint8Array,
  from: number,
  to: number,
  bytes: Uint8Array,
  offset = 0,
): number {
  const rest = (to - from) & 3;
  if (rest === 1) return -1;
  const whole = to - rest;
  let at = offset;
  // Invalid bytes have a value above 63; they are checked together at the end.
  let seen = 0;
  for (let i = from; i < whole; i += 4) {
    const a = SIX_BITS[ascii[i]!]!;
    const b = SIX_BITS[ascii[i + 1]!]!;
    const c = SIX_BITS[ascii[i + 2]!]!;
    const d = SIX_BITS[ascii[i + 3]!]!;
    seen |= a | b | c | d;
    bytes[at++] = (a << 2) | (b >> 4);
    bytes[at++] = (b << 4) | (c >> 2);
    bytes[at++] = (c << 6) | d;
  }
  if (rest > 0) {
    const a = SIX_BITS[ascii[whole]!]!;
    const b = SIX_BITS[ascii[whole + 1]!]!;
    const c = rest === 3 ? SIX_BITS[ascii[whole + 2]!]! : 0;
    const trailing = rest === 3 ? c & 3 : b & 15;
    if (trailing !== 0) return -1;
    seen |= a | b | c;
    bytes[at++] = (a << 2) | (b >> 4);
    if (rest === 3) bytes[at++] = (b << 4) | (c >> 2);
  }
  return seen > 63 ? -1 : at - offset;
}
