/** Faults of an issuer, and a web server for its files. @module */

import { encodeHex } from "@std/encoding/hex";
import {
  parseEventPayload,
  parseFeedLine,
  type SigEvent,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { signEvent, type SigningKey } from "@sig/jose/keys";

/**
 * A fault, and the error code with which `@sig/consumer` reports it:
 *
 * | fault | code |
 * | --- | --- |
 * | `unreachable` | `fetch_failed` |
 * | `silent` | `fetch_timeout` |
 * | `missing` | `fetch_status` |
 * | `redirected` | `fetch_redirected` |
 * | `page`: a web page with status 200 | `fetch_media_type` |
 * | `altered`: the last event's signature | `signature_invalid` |
 * | `rolled_back`: the last event is missing | none; `feed_rolled_back` for a reader that has seen it |
 * | `rewritten`: the last event differs and is validly signed | none; `feed_rewritten` for a reader that has seen it |
 * | `key_withdrawn`: the first key is gone | `key_not_found`; `key_withdrawn` for a reader that has seen it |
 */
export type IssuerFault =
  | "unreachable"
  | "silent"
  | "missing"
  | "redirected"
  | "page"
  | "altered"
  | "rolled_back"
  | "rewritten"
  | "key_withdrawn";

type Files = ReadonlyMap<string, Uint8Array>;

/**
 * Answers a request as the web server of an issuer with this fault does.
 *
 * @param files the issuer's files, without the fault.
 * @param findKey called for the fault that signs.
 */
export async function answerWithFault(
  fault: IssuerFault | undefined,
  files: Files,
  request: Request,
  findKey: () => Promise<SigningKey>,
): Promise<Response> {
  switch (fault) {
    case undefined:
      return await serveFile(files, request);
    case "unreachable":
      throw new TypeError("Connection refused");
    case "silent":
      return await untilAborted(request.signal);
    case "missing":
      return new Response(null, { status: 404 });
    case "redirected": {
      const headers = { location: "https://elsewhere.example/" };
      return new Response(null, { status: 302, headers });
    }
    case "page":
      return new Response("<!doctype html><title>Welcome</title>", {
        headers: { "content-type": "text/html" },
      });
    case "key_withdrawn": {
      const jwks = JSON.parse(textOf(files, WELL_KNOWN_PATHS.jwks));
      const text = JSON.stringify({ ...jwks, keys: jwks.keys.slice(1) });
      return await serveFile(
        replaced(files, WELL_KNOWN_PATHS.jwks, text),
        request,
      );
    }
  }
  const lines = textOf(files, WELL_KNOWN_PATHS.feed).split("\n").slice(0, -1);
  const last = lines.pop();
  if (last !== undefined && fault !== "rolled_back") {
    const isAltered = fault === "altered";
    lines.push(isAltered ? altered(last) : await rewritten(last, findKey));
  }
  const feed = lines.map((line) => `${line}\n`).join("");
  return await serveFile(
    replaced(files, WELL_KNOWN_PATHS.feed, feed),
    request,
  );
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/** Returns the line with another signature. */
function altered(line: string): string {
  return line.replace(
    /("signature":")(.)/,
    (_, start, first) => start + (first === "A" ? "B" : "A"),
  );
}

/** Returns another, validly signed line. */
async function rewritten(
  line: string,
  findKey: () => Promise<SigningKey>,
): Promise<string> {
  const { payload } = parseFeedLine(new TextEncoder().encode(line));
  const event = parseEventPayload(payload) as SigEvent;
  const other = { ...event, reason: `not ${event.reason ?? "this"}` };
  return JSON.stringify(await signEvent(other, await findKey()));
}

function textOf(files: Files, path: string): string {
  return new TextDecoder().decode(files.get(path));
}

function replaced(files: Files, path: string, text: string): Files {
  return new Map(files).set(path, new TextEncoder().encode(text));
}

/** Serves a file with entity tags and ranges, so that readers fetch less. */
async function serveFile(
  files: Files,
  request: Request,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  const bytes = files.get(pathname);
  if (bytes === undefined) return new Response(null, { status: 404 });
  const body = new Uint8Array(bytes);
  const hash = await crypto.subtle.digest("SHA-256", body);
  const etag = `"${encodeHex(hash).slice(0, 32)}"`;
  const headers = new Headers({
    "content-type": pathname === WELL_KNOWN_PATHS.feed
      ? "application/x-ndjson"
      : "application/json",
    etag,
  });
  if (request.headers.get("if-none-match") === etag) {
    return new Response(null, { status: 304, headers });
  }
  const range = /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "");
  if (range === null) return new Response(body, { headers });
  const first = Number(range[1]);
  const { length } = body;
  if (first >= length) {
    headers.set("content-range", `bytes */${length}`);
    return new Response(null, { status: 416, headers });
  }
  headers.set("content-range", `bytes ${first}-${length - 1}/${length}`);
  return new Response(body.subarray(first), { status: 206, headers });
}
