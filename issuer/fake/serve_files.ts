/** An issuer's files as a good web server answers with them. @module */

import { WELL_KNOWN_PATHS } from "@sig/core";

/** Files by their path. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** Answers with entity tags and ranges, which readers use to fetch less. */
export async function serveFile(
  files: Files,
  request: Request,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  const bytes = files.get(pathname);
  if (bytes === undefined) return new Response(null, { status: 404 });
  const body = new Uint8Array(bytes);
  const hash = await crypto.subtle.digest("SHA-256", body);
  const etag = `"${new Uint8Array(hash).toHex().slice(0, 32)}"`;
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
