/** Base64, base58btc, and comparison of secrets. @module */

import { decodeBase64UrlStrict } from "@sig/core/internal";
import { decodeBase58 as decode } from "@std/encoding/base58";
import { encodeBase64Url as encodeInScript } from "@std/encoding/base64url";

/** The method of newer platforms that is used here. */
interface NativeEncoder {
  toBase64?(options: { alphabet: "base64url"; omitPadding: true }): string;
}

const OPTIONS = { alphabet: "base64url", omitPadding: true } as const;

/**
 * Encodes bytes as canonical base64url, without padding (RFC 4648 §5). It uses
 * the platform's encoder where available, which is several times as fast.
 *
 * @example
 * ```ts
 * import { encodeBase64Url } from "@sig/jose/internal";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(encodeBase64Url(new Uint8Array([0xfb, 0xff])), "-_8");
 * ```
 */
export function encodeBase64Url(bytes: Uint8Array): string {
  return (bytes as NativeEncoder).toBase64?.(OPTIONS) ?? encodeInScript(bytes);
}

/** Encodes bytes as base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = encodeBase64Url(bytes).replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

/** Decodes canonical base64; returns undefined for any other spelling. */
export function decodeBase64(
  text: string,
): Uint8Array<ArrayBuffer> | undefined {
  // Not /=+$/, which takes quadratic time for many "=" before another character.
  const url = text.replace(/={1,2}$/, "").replaceAll("+", "-")
    .replaceAll("/", "_");
  const bytes = decodeBase64UrlStrict(url);
  return bytes !== undefined && encodeBase64(bytes) === text
    ? bytes
    : undefined;
}

/**
 * Compares two strings in a time that depends on their lengths only, so that it
 * does not reveal how many characters of a secret are correct.
 *
 * @example
 * ```ts
 * import { equalInConstantTime } from "@sig/jose/internal";
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

/**
 * Decodes base58btc; returns undefined for other characters. Takes quadratic
 * time: limit the length first.
 */
export function decodeBase58(
  text: string,
): Uint8Array<ArrayBuffer> | undefined {
  // The library would ignore white space at both ends.
  return /^[1-9A-HJ-NP-Za-km-z]*$/.test(text) ? decode(text) : undefined;
}
