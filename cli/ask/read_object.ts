/** Documents that a doctor looks at, beside judging them. @module */

import { isObject, isSigError, JsonError, parseJson } from "@sig/core";
import type { IssuerLocation } from "@sig/consumer";

/** Bytes of a document that is looked at. */
const MAX_BYTES = 256 * 1024;

/** A JSON object. */
export type JsonObject = { readonly [name: string]: unknown };

/** A document that is there and is an object; others are no matter here. */
export async function readObject(
  { reader }: IssuerLocation,
  ref: string,
  name: "metadata" | "jwks" | "did_document",
): Promise<JsonObject | undefined> {
  try {
    const opened = await reader.open(ref, { name, maxBytes: MAX_BYTES });
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of opened.bytes) chunks.push(chunk.slice());
    const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
    const value = parseJson(bytes);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (isSigError(error) || error instanceof JsonError) return undefined;
    throw error;
  }
}
