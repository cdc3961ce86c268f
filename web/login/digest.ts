/** Random texts, digests of texts, and `node:crypto`, which makes them. @module */

import { encodeBase64Url, loadBuiltin } from "@sig/jose/internal";
import type * as NodeCrypto from "node:crypto";

/**
 * `node:crypto`, which answers at once: a round trip of WebCrypto takes ten times
 * as long beside other requests. Loading it takes 30 to 60 ms, with the first use.
 *
 * @throws {TypeError} where the runtime has none.
 */
export function nodeCrypto(): typeof NodeCrypto {
  const node = loadBuiltin("node:crypto");
  if (node !== undefined) return node as typeof NodeCrypto;
  throw new TypeError("Cannot log anyone in: this runtime has no node:crypto");
}

/** SHA-256 of a text's UTF-8 bytes, in base64url. */
export function sha256Base64Url(text: string): string {
  return nodeCrypto().createHash("sha256").update(text).digest("base64url");
}

/** A text of random bytes, which nobody guesses from 16 on. */
export function randomText(bytes: number): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
