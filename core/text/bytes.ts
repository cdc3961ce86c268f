/** Joining and comparing bytes. @module */

/**
 * The pieces one behind the other, always in an array of their own.
 *
 * @param length bytes in all, where the caller has counted them already.
 *
 * @example
 * ```ts
 * import { joinBytes } from "@sig/core";
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
 * Whether two arrays hold the same bytes. Not for secrets: the time it takes
 * shows where they differ first; `equalInConstantTime` of `@sig/jose` is.
 *
 * @example
 * ```ts
 * import { sameBytes } from "@sig/core";
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
