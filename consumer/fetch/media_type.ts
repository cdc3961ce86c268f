/** Media types of the four documents (docs/protocol.md §10). @module */

import type { Warning } from "@sig/core";
import { quote, trimOws } from "@sig/core/internal";

/** The four documents of an issuer, and the files of its proofs. */
export type DocumentName =
  | "metadata"
  | "jwks"
  | "did_document"
  | "feed"
  | "proof";

/** The recommended media type of a feed, and common alternatives. */
const FEED_TYPES: ReadonlySet<string> = new Set([
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/x-jsonlines",
]);

/** The `accept` header for each document. Servers may ignore it. */
export const ACCEPT: Readonly<Record<DocumentName, string>> = Object.freeze({
  metadata: "application/json",
  jwks: "application/jwk-set+json, application/json",
  did_document: "application/did+json, application/did+ld+json, " +
    "application/json",
  feed: "application/x-ndjson",
  proof: "application/octet-stream, text/plain",
});

/** Maximum length of a media type in characters. Real ones are shorter. */
const MAX_LENGTH = 100;

/**
 * Returns the media type of a `Content-Type` header in lower case, without
 * parameters, cut to 100 characters; null if there is none. The text is the
 * server's: quote it before showing it.
 */
export function parseMediaType(contentType: string | null): string | null {
  const type = trimOws((contentType ?? "").split(/[;,]/, 1)[0]!).toLowerCase();
  return type === "" ? null : type.slice(0, MAX_LENGTH);
}

/**
 * Returns whether a media type can't be that of a document: `text/html` is an
 * error page or a portal, `multipart/*` contains several ranges.
 */
export function isRefusedMediaType(mediaType: string | null): boolean {
  return mediaType !== null &&
    (mediaType === "text/html" || mediaType.startsWith("multipart/"));
}

/**
 * Returns the warning `media_type_unexpected` if the media type does not fit
 * the document, or undefined if it fits or is absent (local and inline
 * documents have none). The media type is never a reason to refuse.
 * (docs/protocol.md §10)
 *
 * @example
 * ```ts
 * import { checkMediaType } from "./media_type.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(checkMediaType("feed", "application/x-ndjson"), undefined);
 * assertEquals(
 *   checkMediaType("feed", "text/plain")?.code,
 *   "media_type_unexpected",
 * );
 * ```
 */
export function checkMediaType(
  name: DocumentName,
  mediaType: string | null,
): Warning | undefined {
  if (mediaType === null) return undefined;
  const fits = name === "feed"
    ? FEED_TYPES.has(mediaType)
    : mediaType === "application/json" || mediaType.endsWith("+json") ||
      (name === "did_document" && mediaType === "application/did");
  if (fits) return undefined;
  const expected = name === "feed" ? "application/x-ndjson" : ACCEPT[name];
  return {
    code: "media_type_unexpected",
    detail: `the ${name} is served as ${
      quote(mediaType)
    } (expected ${expected})`,
  };
}
