/** Encodings with functions of all platforms. @module */

/** Encodes bytes as base64url without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (it) => String.fromCharCode(it)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes hexadecimal digits. */
export function decodeHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (it) => parseInt(it, 16));
}
