/**
 * An issuer whose feed grows when it is told to: `POST /more` publishes the next
 * ten events. All of them are signed before, so that signing is not measured.
 * Its arguments: events to begin with, and how often it may grow.
 *
 * @module
 */

import { generateSigningKey, importSigningKey, signEvent } from "@sig/jose";
import { benchEvent } from "../event.ts";

const [EVENTS = 20_000, TIMES = 100] = Deno.args.map(Number);
const NEW_EVENTS = 10;
const FEED = "/.well-known/sig/events.jsonl";

const key = await importSigningKey(await generateSigningKey({ kid: "bench" }));
const documents = new Map<string, string>();
let feed: Uint8Array<ArrayBuffer> = new Uint8Array();
const ready = Promise.withResolvers<void>();

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  async (request) => {
    await ready.promise;
    const { pathname } = new URL(request.url);
    if (pathname === "/more") {
      publishMore();
      return new Response(null, { status: 204 });
    }
    if (pathname === FEED) return serveFeed(request);
    const text = documents.get(pathname);
    if (text === undefined) return new Response(null, { status: 404 });
    const headers = { "content-type": "application/json", etag: '"1"' };
    return request.headers.get("if-none-match") === '"1"'
      ? new Response(null, { status: 304, headers })
      : new Response(text, { headers });
  },
);
const origin = `http://127.0.0.1:${server.addr.port}`;
const did = `did:web:127.0.0.1%3A${server.addr.port}`;
documents.set(
  "/.well-known/sig.json",
  JSON.stringify({
    spec_version: "sig/0.1",
    issuer: did,
    jwks_uri: `${origin}/.well-known/jwks.json`,
    events_uri: origin + FEED,
    public_only: true,
    algorithms_supported: ["EdDSA"],
  }),
);
documents.set(
  "/.well-known/jwks.json",
  JSON.stringify({ keys: [key.publicJwk] }),
);

const ends: number[] = [];
const parts: string[] = [];
let length = 0;
for (let last = EVENTS, next = 1; ends.length <= TIMES; last += NEW_EVENTS) {
  for (; next <= last; next++) {
    const line = `${
      JSON.stringify(await signEvent(benchEvent(did, next), key))
    }\n`;
    length += line.length;
    parts.push(line);
  }
  ends.push(length);
}
const all = new TextEncoder().encode(parts.join(""));
let at = 0;
function publishMore(): void {
  feed = all.subarray(0, ends[at++]);
}

function serveFeed(request: Request): Response {
  const headers = { "content-type": "application/x-ndjson" };
  const [, from] = /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "") ??
    [];
  if (from === undefined) return new Response(feed, { headers });
  const range = `bytes ${from}-${feed.length - 1}/${feed.length}`;
  return new Response(feed.subarray(Number(from)), {
    status: 206,
    headers: { ...headers, "content-range": range },
  });
}

publishMore();
ready.resolve();
console.log(origin);
