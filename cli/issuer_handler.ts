/** The responses of `sig serve`: four documents and nothing else. @module */

import { isObject, WELL_KNOWN_PATHS } from "@sig/core";
import { eTag, ifNoneMatch } from "@std/http/etag";
import { STATUS_CODE } from "@std/http/status";

const JSON_TYPE = "application/json";
const LF = 0x0a;
/** Bytes looked at from the end of a feed for its last LF: one line at most. */
const TAIL_BYTES = 64 * 1024 + 1;
const CHUNK_BYTES = 256 * 1024;

const COMMON_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, content-range",
  "x-content-type-options": "nosniff",
  // A consumer asks again, and gets 304 while nothing has changed.
  "cache-control": "no-cache",
} as const;

/** Makes the handler for an issuer's directory. */
export function createIssuerHandler(
  dir: string,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refuse(STATUS_CODE.MethodNotAllowed, { allow: "GET, HEAD" });
    }
    const { pathname } = new URL(request.url);
    const documents = await findDocuments(dir);
    const type = documents.get(pathname);
    if (type === undefined) return refuse(STATUS_CODE.NotFound);
    const opened = await openInside(dir, pathname);
    if (opened === undefined) return refuse(STATUS_CODE.NotFound);
    return await respond(request, opened, type);
  };
}

function refuse(status: number, headers: HeadersInit = {}): Response {
  return new Response(null, {
    status,
    headers: { ...COMMON_HEADERS, ...headers },
  });
}

/** Media type by path: what `sig.json` names, and what is well known. */
async function findDocuments(dir: string): Promise<Map<string, string>> {
  const found = new Map<string, string>([
    [WELL_KNOWN_PATHS.did_document, "application/did+json"],
    [WELL_KNOWN_PATHS.metadata, JSON_TYPE],
    [WELL_KNOWN_PATHS.jwks, JSON_TYPE],
    [WELL_KNOWN_PATHS.feed, "application/x-ndjson"],
  ]);
  try {
    const text = await Deno.readTextFile(dir + WELL_KNOWN_PATHS.metadata);
    const metadata: unknown = JSON.parse(text);
    if (!isObject(metadata)) return found;
    add(found, metadata.jwks_uri, JSON_TYPE);
    add(found, metadata.events_uri, "application/x-ndjson");
  } catch {
    // Readers will say what is wrong with it; the known places are served.
  }
  return found;
}

function add(found: Map<string, string>, uri: unknown, type: string): void {
  const url = typeof uri === "string" ? URL.parse(uri) : null;
  if (url !== null) found.set(url.pathname, type);
}

interface Opened {
  readonly file: Deno.FsFile;
  readonly info: Deno.FileInfo;
}

/** A regular file inside the directory; a link that leaves it is nothing. */
async function openInside(
  dir: string,
  pathname: string,
): Promise<Opened | undefined> {
  let file: Deno.FsFile | undefined;
  try {
    const root = await Deno.realPath(dir);
    const path = await Deno.realPath(root + decodeURIComponent(pathname));
    if (!path.startsWith(`${root}/`)) return undefined;
    // Asked before opening: a FIFO would block.
    if (!(await Deno.stat(path)).isFile) return undefined;
    file = await Deno.open(path, { read: true });
    return { file, info: await file.stat() };
  } catch {
    file?.close();
    return undefined;
  }
}

async function respond(
  request: Request,
  { file, info }: Opened,
  type: string,
): Promise<Response> {
  const size = type === "application/x-ndjson"
    ? await wholeLines(file, info.size)
    : info.size;
  const tag = await eTag({ size, mtime: info.mtime }, { weak: false });
  const headers = new Headers({
    ...COMMON_HEADERS,
    "content-type": type,
    "accept-ranges": "bytes",
    ...(tag ? { etag: tag } : {}),
    ...(info.mtime ? { "last-modified": info.mtime.toUTCString() } : {}),
  });
  const end = (status: number) => {
    file.close();
    return new Response(null, { status, headers });
  };
  if (!ifNoneMatch(request.headers.get("if-none-match"), tag)) {
    return end(STATUS_CODE.NotModified);
  }
  const range = parseRange(request, size, tag);
  if (range === "unsatisfiable") {
    headers.set("content-range", `bytes */${size}`);
    return end(STATUS_CODE.RangeNotSatisfiable);
  }
  const [from, to] = range ?? [0, size];
  headers.set("content-length", String(to - from));
  if (range) headers.set("content-range", `bytes ${from}-${to - 1}/${size}`);
  const status = range ? STATUS_CODE.PartialContent : STATUS_CODE.OK;
  if (request.method === "HEAD") return end(status);
  await file.seek(from, Deno.SeekMode.Start);
  return new Response(stream(file, to - from), { status, headers });
}

/** Bytes up to the last LF: an append that is under way is not shown. */
async function wholeLines(file: Deno.FsFile, size: number): Promise<number> {
  const start = Math.max(0, size - TAIL_BYTES);
  await file.seek(start, Deno.SeekMode.Start);
  const tail = new Uint8Array(size - start);
  let length = 0;
  while (length < tail.length) {
    const read = await file.read(tail.subarray(length));
    if (read === null) break;
    length += read;
  }
  const last = tail.subarray(0, length).lastIndexOf(LF);
  // A damaged end is not hidden: readers must see it.
  return last < 0 ? size : start + last + 1;
}

/** One range of bytes; undefined where the whole is to be sent. */
function parseRange(
  request: Request,
  size: number,
  tag: string | undefined,
): readonly [number, number] | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(request.headers.get("range") ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  const condition = request.headers.get("if-range");
  if (condition !== null && condition !== tag) return undefined;
  const [first, last] = [match[1]!, match[2]!];
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === "" || last === ""
    ? size
    : Math.min(size, Number(last) + 1);
  if (first !== "" && last !== "" && Number(last) < from) return undefined;
  return from < to ? [from, to] : "unsatisfiable";
}

function stream(file: Deno.FsFile, length: number): ReadableStream<Uint8Array> {
  let left = length;
  return new ReadableStream({
    async pull(controller) {
      const chunk = new Uint8Array(Math.min(left, CHUNK_BYTES));
      const read = chunk.length === 0 ? null : await file.read(chunk);
      if (read === null) {
        file.close();
        controller.close();
        return;
      }
      left -= read;
      controller.enqueue(chunk.subarray(0, read));
    },
    cancel: () => file.close(),
  });
}
