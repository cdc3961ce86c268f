/** Which responses are an answer (docs/protocol.md §10). Judges only. @module */

import type { SigError } from "@sig/core";
import { quote, trimOws } from "@sig/core/internal";
import { fetchError } from "./fetch_error.ts";
import {
  type ContentRange,
  type GuardedFetchOptions,
  isEntityTag,
  type OpenedDocument,
} from "./fetch_options.ts";
import { isRefusedMediaType, parseMediaType } from "./media_type.ts";
import type { TransportResponse } from "./transport.ts";

/**
 * Judges the head of a response to our own request. `mediaType` is in lower case
 * and without parameters, `etag` a proper one, and `length` the bytes that the
 * body must have, if the server said so.
 *
 * @throws {SigError} `fetch_redirected`, `fetch_status`, `fetch_failed` (an
 * encoding that we did not ask for, a length that makes no sense, no sign of
 * where the body ends), `fetch_media_type`, or the options' `tooLargeCode`.
 */
export function judgeResponse(
  head: TransportResponse,
  url: URL,
  options: GuardedFetchOptions,
): Omit<OpenedDocument, "bytes" | "cancel"> {
  const status = judgeStatus(head, url, options);
  const mediaType = parseMediaType(head.header("content-type"));
  const etag = head.header("etag");
  const unchanged = status === 304;
  const accepted = {
    ...{ unchanged, mediaType },
    etag: etag !== null && isEntityTag(etag) ? etag : null,
  };
  if (unchanged) return { ...accepted, length: 0 };
  judgeEncoding(head, url);
  if (isRefusedMediaType(mediaType)) {
    throw fetchError(
      "fetch_media_type",
      url,
      `the server sent ${quote(mediaType ?? "")} (an error page?)`,
      { media_type: mediaType },
    );
  }
  const range = status === 206 ? judgeRange(head, url, options) : undefined;
  const length = judgeLength(head, url, options, range);
  if (length === undefined) judgeFraming(head, url);
  return { ...accepted, range, length };
}

function judgeStatus(
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

/** Redirects could lead anywhere, also to this machine: none is followed. */
function redirected(head: TransportResponse, url: URL): SigError {
  const location = head.header("location");
  const target = location === null ? null : URL.parse(location, url);
  const isWeb = target?.protocol === "https:" || target?.protocol === "http:";
  // Only the origin: path and query could be long, or somebody's secret.
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

/** No decoding: a few hundred bytes can unpack to gigabytes. */
function judgeEncoding(head: TransportResponse, url: URL): void {
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

/** The rest of the document from where we asked, and all of it. */
function judgeRange(
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

function judgeLength(
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
 * A body whose end is that of the connection may have been cut by anybody on
 * the way, also under TLS, whose own end (close_notify) runtimes don't insist
 * on: the last lines of a feed, a revoke among them, would be missing unseen
 * (RFC 9112 §8). Only a length, a range or chunks say where it ends.
 *
 * Where the platform speaks HTTP for us, HTTP/2 says it out of our sight, and
 * headers may be hidden: then only a visible sign of such a body refuses it.
 */
function judgeFraming(head: TransportResponse, url: URL): void {
  // judgeEncoding() let nothing but "chunked" pass.
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

/** The error of a body over the limit. */
export function tooLarge(
  url: URL,
  maxBytes: number,
  code: GuardedFetchOptions["tooLargeCode"],
): SigError {
  const why = `it is larger than ${maxBytes} bytes`;
  return fetchError(code, url, why, { limit: maxBytes });
}
