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

/** Returns random bytes in base64url; 16 or more can't be guessed. */
export function randomText(bytes: number): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
