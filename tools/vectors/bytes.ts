/** Bytes and texts of the vectors. @module */

import { encodeBase64Url } from "@std/encoding/base64url";

/** A JSON object as it is written into a vector. */
export type JsonObject = { readonly [member: string]: unknown };

/** UTF-8, or the bytes as they are. */
export function toBytes(text: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof text === "string"
    ? new TextEncoder().encode(text)
    : Uint8Array.from(text);
}

/** Texts and bytes, one behind the other. */
export function concat(
  ...parts: readonly (string | Uint8Array)[]
): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...toBytes(part)]));
}

/** base64url without padding; what is no text and no bytes as JSON. */
export function base64url(value: unknown): string {
  if (typeof value === "string" || value instanceof Uint8Array) {
    return encodeBase64Url(toBytes(value));
  }
  return encodeBase64Url(JSON.stringify(value));
}

/** A document as issuers write it. */
export function spell(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** An object without some of its members. */
export function without(
  object: JsonObject,
  ...names: readonly string[]
): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name]) => !names.includes(name)),
  );
}

/** An object with its members in reverse order. */
export function reversed(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).reverse());
}
