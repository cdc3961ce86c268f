/**
 * Checks whether a response and its media type are acceptable
 * (docs/protocol.md §10). No I/O.
 *
 * @module
 */

import type { SigError, Warning } from "@sig/core";
import { quote, trimOws } from "@sig/core/internal";
import { fetchError } from "./fetch_error.ts";
import {
  type ContentRange,
  type GuardedFetchOptions,
  isEntityTag,
  type OpenedDocument,
} from "./fetch_options.ts";
import type { TransportResponse } from "./transport.ts";

/**
 * Checks the head of a response. In the result, `mediaType` is in lower case
 * without parameters, `etag` is well-formed or null, and `length` is the
 * required size of the body in bytes, if the server sent it.
 *
 * @throws {SigError} `fetch_redirected`, `fetch_status`, `fetch_failed` (an
 * encoding that was not requested, an invalid length, a body without framing),
 * `fetch_media_type`, or the options' `tooLargeCode`.
 */
export function checkResponse(
  head: TransportResponse,
  url: URL,
  options: GuardedFetchOptions,
): Omit<OpenedDocument, "bytes" | "cancel"> {
  const status = checkStatus(head, url, options);
  const mediaType = parseMediaType(head.header("content-type"));
  const etag = head.header("etag");
  const unchanged = status === 304;
  const accepted = {
    unchanged,
    mediaType,
    etag: etag !== null && isEntityTag(etag) ? etag : null,
  };
  if (unchanged) return { ...accepted, length: 0 };
  checkEncoding(head, url);
  if (isRefusedMediaType(mediaType)) {
    throw fetchError(
      "fetch_media_type",
      url,
      `the server sent ${quote(mediaType ?? "")} (an error page?)`,
      { media_type: mediaType },
    );
  }
  const range = status === 206 ? readRange(head, url, options) : undefined;
  const length = readLength(head, url, options, range);
  if (length === undefined) requireFraming(head, url);
  return { ...accepted, range, length };
}

function checkStatus(
  head: TransportResponse,
  url: URL,
  { conditions }: GuardedFetchOptions,
): number {
  const { status } = head;
  if (status === 200) return status;
  if (status === 304 && conditions?.ifNoneMatch !== undefined) return status;
  if (status === 206 && conditions?.range !== undefined) return status;
  if (status === 0 || (status >= 300 && status < 400 && status !== 304)) {
    throw redirected(head, url);
  }
  const unasked = status === 206 || status === 304 ? ", unasked" : "";
  throw fetchError(
    "fetch_status",
    url,
    `the server answered with status ${status}${unasked}`,
    { status },
  );
}

/**
 * Makes the error of a redirect. Redirects are never followed: the target could
 * be anywhere, also on this machine.
 */
function redirected(head: TransportResponse, url: URL): SigError {
  const location = head.header("location");
  const target = location === null ? null : URL.parse(location, url);
  const isWeb = target?.protocol === "https:" || target?.protocol === "http:";
  // Path and query of the target could be long or secret, so only the origin is
  // shown.
  const place = target === null
    ? "another place"
    : isWeb
    ? quote(target.origin)
    : `a ${quote(target.protocol)} URL`;
  return fetchError(
    "fetch_redirected",
    url,
    `the server redirects to ${place} (redirects are not followed)`,
    {
      ...(head.status === 0 ? {} : { status: head.status }),
      ...(target !== null && isWeb ? { location_origin: target.origin } : {}),
      hint: "Name the final place as the source, or have the issuer serve " +
        "the document itself at this URL.",
    },
  );
}

/**
 * Refuses encodings: a few hundred compressed bytes can expand to gigabytes.
 */
function checkEncoding(head: TransportResponse, url: URL): void {
  const rules = {
    "content-encoding": "identity",
    "transfer-encoding": "chunked",
  };
  for (const [name, allowed] of Object.entries(rules)) {
    const value = trimOws(head.header(name) ?? "").toLowerCase();
    if (value === "" || value === allowed) continue;
    throw fetchError(
      "fetch_failed",
      url,
      `the server sent ${name} ${quote(value)}, which was not asked for`,
      { kind: "encoding", hint: "Switch compression off for this document." },
    );
  }
}

/** Requires the range that was requested, up to the end of the document. */
function readRange(
  head: TransportResponse,
  url: URL,
  { conditions }: GuardedFetchOptions,
): ContentRange {
  const text = head.header("content-range") ?? "";
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(text);
  const [first, last, total] = (match ?? []).slice(1).map(Number);
  if (
    first === undefined || last === undefined || total === undefined ||
    first !== conditions?.range?.from || last < first || last !== total - 1
  ) {
    throw fetchError(
      "fetch_failed",
      url,
      "the server sent another range than the one asked for",
      { kind: "range" },
    );
  }
  return { first, last, total };
}

function readLength(
  head: TransportResponse,
  url: URL,
  { maxBytes, tooLargeCode }: GuardedFetchOptions,
  range: ContentRange | undefined,
): number | undefined {
  const text = head.header("content-length");
  const ranged = range && range.last - range.first + 1;
  const length = text === null ? ranged : parseLength(text);
  if (Number.isNaN(length) || (ranged !== undefined && length !== ranged)) {
    const why = "the server's content-length makes no sense";
    throw fetchError("fetch_failed", url, why, { kind: "http" });
  }
  if (length !== undefined && length > maxBytes) {
    throw tooLarge(url, maxBytes, tooLargeCode);
  }
  return length;
}

/**
 * Refuses a body without framing, which ends with its connection. Anybody on
 * the way could truncate it, also under TLS, since runtimes don't require
 * close_notify: the last lines of a feed, a revoke among them, would be missing
 * unnoticed (RFC 9112 §8). Only a length, a range or chunks show where a body
 * ends.
 *
 * If the platform speaks HTTP, HTTP/2 frames and some headers are not visible
 * here. Then a body is refused only if the headers show that it has no framing.
 */
function requireFraming(head: TransportResponse, url: URL): void {
  // checkEncoding() accepts only "chunked".
  if (trimOws(head.header("transfer-encoding") ?? "") !== "") return;
  const endsWithConnection = head.isVerbatim ||
    /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(head.header("connection") ?? "");
  if (!endsWithConnection) return;
  throw fetchError(
    "fetch_failed",
    url,
    "the server did not say where the body ends, so it may have been cut off",
    {
      kind: "unframed",
      hint: "Have the server, and each proxy before it, send content-length " +
        "or transfer-encoding: chunked (HTTP/1.1).",
    },
  );
}

function parseLength(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : NaN;
}

export function tooLarge(
  url: URL,
  maxBytes: number,
  code: GuardedFetchOptions["tooLargeCode"],
): SigError {
  const why = `it is larger than ${maxBytes} bytes`;
  return fetchError(code, url, why, { limit: maxBytes });
}

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
function isRefusedMediaType(mediaType: string | null): boolean {
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
 * import { checkMediaType } from "./response_rules.ts";
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
