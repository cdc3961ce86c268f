/** Comparing secrets. @module */

/**
 * Whether two strings are equal, in a time that depends on their lengths only:
 * how many characters of a secret or a nonce were right must not show.
 *
 * @example
 * ```ts
 * import { equalInConstantTime } from "@sig/jose";
 * import { assert } from "@std/assert";
 *
 * assert(equalInConstantTime("n-1", "n-1"));
 * assert(!equalInConstantTime("n-1", "n-2"));
 * ```
 */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) {
    difference |= a.charCodeAt(i) ^ b.charCodeAt(i % Math.max(b.length, 1));
  }
  return difference === 0;
}
