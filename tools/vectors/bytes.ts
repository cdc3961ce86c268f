/** Bytes and texts of the vectors. @module */

import { encodeBase64Url } from "@std/encoding/base64url";

/** A JSON object in a vector. */
export type JsonObject = { readonly [member: string]: unknown };

/** Encodes a text as UTF-8; copies bytes. */
export function toBytes(text: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof text === "string"
    ? new TextEncoder().encode(text)
    : Uint8Array.from(text);
}

/** Concatenates texts and bytes. */
export function concat(
  ...parts: readonly (string | Uint8Array)[]
): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...toBytes(part)]));
}

/**
 * Encodes as base64url without padding: text, bytes, or any other value as
 * JSON.
 */
export function base64url(value: unknown): string {
  if (typeof value === "string" || value instanceof Uint8Array) {
    return encodeBase64Url(toBytes(value));
  }
  return encodeBase64Url(JSON.stringify(value));
}

/** Formats a document as issuers do. */
export function spell(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Returns an object without some of its members. */
export function without(
  object: JsonObject,
  ...names: readonly string[]
): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name]) => !names.includes(name)),
  );
}

/** Returns an object with its members in reverse order. */
export function reversed(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).reverse());
}
