/** Random texts, and digests of them. @module */

import { encodeBase64Url, loadBuiltin } from "@sig/jose/internal";

interface NodeHash {
  update(text: string): NodeHash;
  digest(encoding: "base64url"): string;
}

/**
 * SHA-256 of a text's UTF-8 bytes, in base64url. `node:crypto`, where there is
 * one, takes a tenth of the time of WebCrypto's round trip; it is loaded with
 * the first digest, since that takes 30 to 60 ms.
 */
export async function sha256Base64Url(text: string): Promise<string> {
  const node = loadBuiltin("node:crypto") as
    | { createHash(name: string): NodeHash }
    | undefined;
  if (node !== undefined) {
    return node.createHash("sha256").update(text).digest("base64url");
  }
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return encodeBase64Url(new Uint8Array(digest));
}

/** A text of random bytes, which nobody guesses from 16 on. */
export function randomText(bytes: number): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
