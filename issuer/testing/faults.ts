/** Faults of an issuer, and a web server for its files. @module */

import { encodeHex } from "@std/encoding/hex";
import {
  parseEventPayload,
  parseFeedLine,
  type SigEvent,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { signEvent, type SigningKey } from "@sig/jose/keys";

/** A fault of the server, whatever its files are. */
type ServerFault = Exclude<IssuerFault, FileFault>;
/** A fault of a file. */
type FileFault = "altered" | "rolled_back" | "rewritten" | "key_withdrawn";

const ANSWERS: {
  readonly [fault in ServerFault]: (request: Request) => Promise<Response>;
} = {
  unreachable: () => Promise.reject(new TypeError("Connection refused")),
  silent: ({ signal }: Request) =>
    new Promise<Response>((_resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    }),
  missing: () => Promise.resolve(new Response(null, { status: 404 })),
  redirected: () =>
    Promise.resolve(
      new Response(null, {
        status: 302,
        headers: { location: "https://elsewhere.example/" },
      }),
    ),
  page: () =>
    Promise.resolve(
      new Response("<!doctype html><title>Welcome</title>", {
        headers: { "content-type": "text/html" },
      }),
    ),
};

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

/** Returns the response of a faulty server; undefined for faults of files. */
export function faultyAnswer(
  fault: IssuerFault,
  request: Request,
): Promise<Response> | undefined {
  return isOfServer(fault) ? ANSWERS[fault](request) : undefined;
}

function isOfServer(fault: IssuerFault): fault is ServerFault {
  return Object.hasOwn(ANSWERS, fault);
}

/** Returns the files with the fault, or the same files for other faults. */
export async function damagedFiles(
  fault: IssuerFault,
  files: Files,
  key: SigningKey,
): Promise<Files> {
  if (fault === "key_withdrawn") {
    return replaced(files, WELL_KNOWN_PATHS.jwks, (text) => {
      const jwks = JSON.parse(text);
      return JSON.stringify({ ...jwks, keys: jwks.keys.slice(1) });
    });
  }
  const feed = new TextDecoder().decode(files.get(WELL_KNOWN_PATHS.feed));
  const lines = feed.split("\n").slice(0, -1);
  const last = lines.pop();
  if (isOfServer(fault) || last === undefined) return files;
  const damaged = await damagedLine(fault, last, key);
  if (damaged !== undefined) lines.push(damaged);
  return replaced(
    files,
    WELL_KNOWN_PATHS.feed,
    () => lines.map((line) => `${line}\n`).join(""),
  );
}

/** Returns the damaged line, or undefined to remove it. */
async function damagedLine(
  fault: Exclude<FileFault, "key_withdrawn">,
  line: string,
  key: SigningKey,
): Promise<string | undefined> {
  if (fault === "rolled_back") return undefined;
  if (fault === "altered") {
    return line.replace(
      /("signature":")(.)/,
      (_, start, first) => start + (first === "A" ? "B" : "A"),
    );
  }
  const { payload } = parseFeedLine(new TextEncoder().encode(line));
  const event = parseEventPayload(payload) as SigEvent;
  const other = { ...event, reason: `not ${event.reason ?? "this"}` };
  return JSON.stringify(await signEvent(other, key));
}

function replaced(
  files: Files,
  path: string,
  change: (text: string) => string,
): Files {
  const text = change(new TextDecoder().decode(files.get(path)));
  return new Map(files).set(path, new TextEncoder().encode(text));
}

type Files = ReadonlyMap<string, Uint8Array>;

/** Serves a file with entity tags and ranges, so that readers fetch less. */
export async function serveFile(
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
