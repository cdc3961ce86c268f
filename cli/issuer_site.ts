/** The responses of `sig serve`: an issuer's documents and nothing else. @module */

import { hostsOf } from "@sig/api/http";
import { type ErrorCode, SigError, toProblem } from "@sig/core";
import { eTag, ifNoneMatch } from "@std/http/etag";
import { STATUS_CODE } from "@std/http/status";
import { parseByteRange } from "./byte_range.ts";
import {
  FEED_TYPE,
  openPublished,
  type PublishedDocument,
  readFully,
} from "./published_documents.ts";

const LF = 0x0a;
/** Bytes looked at from the end of a feed for its last LF: one line at most. */
const TAIL_BYTES = 64 * 1024 + 1;
const CHUNK_BYTES = 256 * 1024;
const METHODS = "GET, HEAD, OPTIONS";

const COMMON_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, content-range, accept-ranges",
  "x-content-type-options": "nosniff",
  // A consumer asks again, and gets 304 while nothing has changed. Unchanged
  // bytes, since readers refuse every content-encoding.
  "cache-control": "no-cache, no-transform",
} as const;

/** What a response keeps open and must give back. */
interface Body {
  readonly status: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Makes what answers requests for an issuer's directory: GET and HEAD of its documents,
 * with entity tags, conditional and range requests (RFC 9110 §13, §14), for
 * every origin. A feed ends at its last LF, so that no reader sees half a line.
 */
export function createIssuerSite(
  dir: string,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method === "OPTIONS") return preflight();
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refuse("method_not_allowed", "the method must be GET or HEAD", {
        allow: METHODS,
      });
    }
    if (hostsOf(request) === undefined) {
      return refuse("invalid_request", "the header host must name a host");
    }
    const { pathname } = new URL(request.url);
    const opened = await openPublished(dir, pathname);
    if (opened === undefined) {
      return refuse("not_found", "there is no such document");
    }
    let response: Response | undefined;
    try {
      response = await respond(request, opened);
      return response;
    } finally {
      // A body closes the file itself, when it is sent or given up.
      if (!response?.body) opened.file.close();
    }
  };
}

function preflight(): Response {
  return new Response(null, {
    status: STATUS_CODE.NoContent,
    headers: {
      ...COMMON_HEADERS,
      allow: METHODS,
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": "range, if-none-match, if-range",
    },
  });
}

function refuse(
  code: ErrorCode,
  why: string,
  headers: { readonly [name: string]: string } = {},
): Response {
  const problem = toProblem(new SigError(code, `Cannot serve: ${why}`));
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": "application/problem+json",
      ...headers,
    },
  });
}

async function respond(
  request: Request,
  { file, info, type }: PublishedDocument,
): Promise<Response> {
  const size = type === FEED_TYPE
    ? await wholeLines(file, info.size)
    : info.size;
  const tag = await tagOf(file, info, size);
  const headers = new Headers({
    ...COMMON_HEADERS,
    "content-type": type,
    "accept-ranges": "bytes",
    etag: tag,
  });
  if (!ifNoneMatch(request.headers.get("if-none-match"), tag)) {
    return new Response(null, { status: STATUS_CODE.NotModified, headers });
  }
  const body = chooseBody(request, size, tag);
  if (body.status !== STATUS_CODE.OK) {
    const part = body.status === STATUS_CODE.RangeNotSatisfiable
      ? "*"
      : `${body.from}-${body.to - 1}`;
    headers.set("content-range", `bytes ${part}/${size}`);
  }
  const { status, from, to } = body;
  if (status === STATUS_CODE.RangeNotSatisfiable) {
    return new Response(null, { status, headers });
  }
  headers.set("content-length", String(to - from));
  if (request.method === "HEAD") return new Response(null, { status, headers });
  await file.seek(from, Deno.SeekMode.Start);
  return new Response(stream(file, to - from), { status, headers });
}

/** The whole, one range of it, or 416. */
function chooseBody(request: Request, size: number, tag: string): Body {
  const whole = { status: STATUS_CODE.OK, from: 0, to: size };
  const header = request.headers.get("range");
  const condition = request.headers.get("if-range");
  // Only the same bytes can be continued; a date is never the same.
  const applies = request.method === "GET" && header !== null &&
    (condition === null || condition === tag);
  const range = applies ? parseByteRange(header, size) : undefined;
  if (range === undefined) return whole;
  if (range === "unsatisfiable") {
    return {
      status: STATUS_CODE.RangeNotSatisfiable,
      from: 0,
      to: 0,
    };
  }
  return {
    status: STATUS_CODE.PartialContent,
    from: range.start,
    to: range.end,
  };
}

/**
 * A strong tag without reading a whole feed: size, file, time, and the bytes of
 * its end, which hold the last event's signature.
 */
async function tagOf(
  file: Deno.FsFile,
  info: Deno.FileInfo,
  size: number,
): Promise<string> {
  const start = Math.max(0, size - CHUNK_BYTES);
  await file.seek(start, Deno.SeekMode.Start);
  const tail = new Uint8Array(size - start);
  await readFully(file, tail);
  const about = `${size} ${info.ino} ${info.mtime?.getTime()} `;
  const bytes = new TextEncoder().encode(about);
  const all = new Uint8Array(bytes.length + tail.length);
  all.set(bytes);
  all.set(tail, bytes.length);
  return await eTag(all) ?? `"${size}"`;
}

/** Bytes up to the last LF: an append that is under way is not shown. */
async function wholeLines(file: Deno.FsFile, size: number): Promise<number> {
  const start = Math.max(0, size - TAIL_BYTES);
  await file.seek(start, Deno.SeekMode.Start);
  const tail = new Uint8Array(size - start);
  const length = await readFully(file, tail);
  const last = tail.subarray(0, length).lastIndexOf(LF);
  // Longer than any line: that damage is not hidden, readers must see it.
  return last < 0 && start > 0 ? size : start + last + 1;
}

function stream(file: Deno.FsFile, length: number): ReadableStream<Uint8Array> {
  let left = length;
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = new Uint8Array(Math.min(left, CHUNK_BYTES));
        const count = left === 0 ? null : await file.read(chunk);
        if (count !== null) {
          left -= count;
          return controller.enqueue(chunk.subarray(0, count));
        }
        file.close();
        // A file that shrank must not look like a whole answer.
        if (left === 0) controller.close();
        else controller.error(new Error("the file became shorter"));
      } catch (error) {
        file.close();
        controller.error(error);
      }
    },
    cancel: () => file.close(),
  });
}
