/**
 * Serves an issuer's directory over HTTP: in your own server, `deno serve` or
 * Deno Deploy. `sig serve` runs it, and `sig export deno-deploy` prints a
 * program that uses it.
 *
 * @example A program for `deno serve --allow-read`
 * ```ts ignore
 * import { createIssuerSite } from "jsr:@sig/cli/site";
 *
 * const site = createIssuerSite(`${import.meta.dirname}/acme.example`);
 * export default {
 *   fetch: (request) => site(request),
 * } satisfies Deno.ServeDefaultExport;
 * ```
 *
 * @module
 */

import { hostsOf } from "@sig/api/internal/http";
import { type ErrorCode, SigError, toProblem } from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import { eTag, ifNoneMatch } from "@std/http/etag";
import { STATUS_CODE } from "@std/http/status";
import type { InsideFile } from "@sig/consumer/internal";
import {
  type NotNow,
  openPublished,
  type PublishedDocument,
} from "./published_documents.ts";
import {
  FEED_TYPE,
  IMMUTABLE_HEADERS,
  PREFLIGHT_HEADERS,
  PROOF_TYPE,
  SITE_HEADERS,
  SITE_METHODS,
} from "./site_headers.ts";

const LF = 0x0a;
/** Bytes at a feed's end that hold its last LF: the longest line. */
const TAIL_BYTES = 64 * 1024 + 1;
const CHUNK_BYTES = 256 * 1024;
/** RFC 9110 §15.5.13. */
const PRECONDITION_FAILED = 412;
const PAUSE_MS = 100;
const MAX_WAITS = 20;
/** Options of {@linkcode createIssuerSite}. */
export interface IssuerSiteOptions {
  /** The clock (default: the system's). */
  readonly now?: () => Date;
  /**
   * Whether entity tags depend only on the size and end of the document
   * (default: false), so that several copies of one directory send the same
   * tags.
   */
  readonly portableTags?: boolean;
}

/**
 * Returns a function that answers requests for an issuer's documents: GET and
 * HEAD, with entity tags, conditional and range requests (RFC 9110 §13, §14),
 * for every origin. A feed is sent up to its last LF, so that no reader sees
 * half a line.
 */
export function createIssuerSite(
  dir: string,
  { now = () => new Date(), portableTags = false }: IssuerSiteOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method === "OPTIONS") return preflight();
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refuse("method_not_allowed", "the method must be GET or HEAD", {
        allow: SITE_METHODS,
      });
    }
    if (hostsOf(request) === undefined) {
      return refuse("invalid_request", "the header host must name a host");
    }
    const { pathname } = new URL(request.url);
    const opened = await openSettled(dir, pathname, now);
    if (opened === undefined) {
      return refuse("not_found", "there is no such document");
    }
    if (typeof opened === "string") {
      const [why, seconds] = NOT_NOW[opened];
      return refuse("store_unavailable", why, { "retry-after": seconds });
    }
    let response: Response | undefined;
    try {
      response = await respond(request, opened, portableTags);
      return response;
    } finally {
      // A body closes the file when it is sent or cancelled.
      if (!response?.body) opened.file.close();
    }
  };
}

const NOT_NOW: { readonly [why in NotNow]: readonly [string, string] } = {
  unsettled: [
    "folders of the issuer's directory are being renamed, or their times lie in the future",
    "1",
  ],
  unreadable: ["the document can't be opened now", "5"],
};

/**
 * Opens a document, and waits while its folders change: on average half a
 * second after a change.
 */
async function openSettled(
  dir: string,
  pathname: string,
  now: () => Date,
): Promise<PublishedDocument | NotNow | undefined> {
  for (let waits = 0;; waits++) {
    const opened = await openPublished(dir, pathname, now());
    if (opened !== "unsettled" || waits === MAX_WAITS) return opened;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function preflight(): Response {
  const headers = {
    ...SITE_HEADERS,
    allow: SITE_METHODS,
    ...PREFLIGHT_HEADERS,
  };
  return new Response(null, { status: STATUS_CODE.NoContent, headers });
}

function refuse(
  code: ErrorCode,
  why: string,
  headers: { readonly [name: string]: string } = {},
): Response {
  const problem = toProblem(
    new SigError(code, { action: "serve", reason: why }),
  );
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      ...SITE_HEADERS,
      "content-type": "application/problem+json",
      ...headers,
    },
  });
}

async function respond(
  request: Request,
  { file, type }: PublishedDocument,
  portableTags: boolean,
): Promise<Response> {
  const size = type === FEED_TYPE ? await wholeLines(file) : file.size;
  const tag = await tagOf(file, size, portableTags);
  const headers = new Headers({
    ...type === PROOF_TYPE ? IMMUTABLE_HEADERS : SITE_HEADERS,
    "content-type": type,
    "accept-ranges": "bytes",
    etag: tag,
  });
  const ifMatch = request.headers.get("if-match");
  // If-Match has precedence (RFC 9110 §13.2.2). Responses have no
  // Last-Modified, so conditions on times are ignored (§13.1.3, §13.1.4).
  if (ifMatch !== null && !matches(ifMatch, tag)) {
    return new Response(null, { status: PRECONDITION_FAILED, headers });
  }
  if (!ifNoneMatch(request.headers.get("if-none-match"), tag)) {
    return new Response(null, { status: STATUS_CODE.NotModified, headers });
  }
  const range = requestedRange(request, size, tag);
  if (range === "unsatisfiable") {
    headers.set("content-range", `bytes */${size}`);
    const status = STATUS_CODE.RangeNotSatisfiable;
    return new Response(null, { status, headers });
  }
  const { from, to } = range ?? { from: 0, to: size };
  const status = range ? STATUS_CODE.PartialContent : STATUS_CODE.OK;
  if (range) headers.set("content-range", `bytes ${from}-${to - 1}/${size}`);
  headers.set("content-length", String(to - from));
  const body = request.method === "HEAD" ? null : stream(file, from, to);
  return new Response(body, { status, headers });
}

/**
 * Whether a list of entity tags contains this one, by strong comparison: a weak
 * tag never matches (RFC 9110 §13.1.1).
 */
function matches(list: string, tag: string): boolean {
  return list.trim() === "*" ||
    list.split(",").some((each) => each.trim() === tag);
}

/**
 * Returns a strong tag without reading a whole feed. It depends on the size,
 * the bytes at the end, which contain the last event's signature, and, unless
 * it is portable, the version of the file.
 */
async function tagOf(
  file: InsideFile,
  size: number,
  portable: boolean,
): Promise<string> {
  const start = Math.max(0, size - CHUNK_BYTES);
  const tail = new Uint8Array(size - start);
  await file.read(tail, start);
  const about = `${size} ${portable ? "" : file.version} `;
  const all = joinBytes([new TextEncoder().encode(about), tail]);
  return await eTag(all) ?? `"${size}"`;
}

/**
 * Returns the number of bytes up to the last LF, without an incomplete append.
 */
async function wholeLines(file: InsideFile): Promise<number> {
  const { size } = file;
  const start = Math.max(0, size - TAIL_BYTES);
  const tail = new Uint8Array(size - start);
  const length = await file.read(tail, start);
  const last = tail.subarray(0, length).lastIndexOf(LF);
  // A line over the maximum length is damage, which readers must see.
  return last < 0 && start > 0 ? size : start + last + 1;
}

function stream(
  file: InsideFile,
  from: number,
  to: number,
): ReadableStream<Uint8Array> {
  let at = from;
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = new Uint8Array(Math.min(to - at, CHUNK_BYTES));
        const count = await file.read(chunk, at);
        if (count > 0) {
          at += count;
          return controller.enqueue(chunk.subarray(0, count));
        }
        file.close();
        // A file that shrank must not look like a complete response.
        if (at === to) controller.close();
        else controller.error(new Error("the file became shorter"));
      } catch (error) {
        file.close();
        controller.error(error);
      }
    },
    cancel: () => file.close(),
  });
}

/**
 * Returns the requested bytes of a document of `length` bytes: from `from` up
 * to, not including, `to`; undefined for all of them, also if the header is
 * ignored (another unit, several ranges, malformed); `unsatisfiable` if the
 * range is after the end.
 */
function requestedRange(
  { headers, method }: Request,
  length: number,
  tag: string,
) {
  // A range needs an equal tag in If-Range; a date never matches.
  const condition = headers.get("if-range") ?? tag;
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i
    .exec(headers.get("range") ?? "");
  if (method !== "GET" || condition !== tag || match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "" && last === "") return undefined;
  const from = first === ""
    ? length - Math.min(Number(last), length)
    : Number(first);
  const to = first === "" || last === ""
    ? length
    : Math.min(Number(last) + 1, length);
  if (first !== "" && last !== "" && Number(last) < from) return undefined;
  return from >= length ? "unsatisfiable" : { from, to };
}
