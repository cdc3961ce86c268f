/** Random texts and digests, by `node:crypto`. @module */

import { encodeBase64Url, loadBuiltin } from "@sig/jose/internal";
import type * as NodeCrypto from "node:crypto";

/**
 * Returns `node:crypto`. It is synchronous: under load, a round trip of
 * WebCrypto takes ten times as long. The first call loads it, in 30 to 60 ms.
 *
 * @throws {TypeError} if the runtime has no `node:crypto`.
 */
export function nodeCrypto(): typeof NodeCrypto {
  const node = loadBuiltin("node:crypto");
  if (node !== undefined) return node as typeof NodeCrypto;
  throw new TypeError("Cannot log anyone in: this runtime has no node:crypto");
}

/** Returns the SHA-256 of a text's UTF-8 bytes, in base64url. */
export function sha256Base64Url(text: string): string {
  return nodeCrypto().createHash("sha256").update(text).digest("base64url");
}

/** Whether a text can be 32 bytes in base64url: a digest or a secret. */
export function isSecret(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/**
 * Splits `<id>.<secret>`, of 16 and 32 bytes; undefined for other texts, for
 * which the store is not queried.
 */
export function splitToken(
  text = "",
): { readonly id: string; readonly secret: string } | undefined {
  const [, id = "", secret] = TOKEN.exec(text) ?? [];
  return secret === undefined ? undefined : { id, secret };
}

const TOKEN = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** Returns random bytes in base64url; 16 or more can't be guessed. */
export function randomText(bytes: number): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
