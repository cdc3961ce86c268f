/**
 * A check in a running process after 10 new events, against verifying the whole
 * feed. Goal: at most 1/1000 with 100,000 events, so 1/200 with 20,000; and the
 * cost of a check that needs no refresh. The running process has refreshed 50
 * times before: code that ran a few times only is not compiled yet. Run:
 * `deno run -A bench/refresh.ts [EVENTS]`
 *
 * @module
 */
import { check } from "@sig/core";
import { createConsumer } from "@sig/consumer";
import { generateSigningKey, importSigningKey, signEvent } from "@sig/jose";
import { benchEvent } from "./event.ts";
import { comparePairs, median } from "./pairs.ts";

const EVENTS = Number(Deno.args[0] ?? "20000");
const NEW_EVENTS = 10;
const WARM_UP = 50;
const PAIRS = 7;
const CHECKS = 20_000;
const QUESTION = {
  subject: "did:web:person-7.example",
  require: ["role=deploy"],
} as const;

const key = await importSigningKey(await generateSigningKey({ kid: "bench" }));
let feed: Uint8Array<ArrayBuffer> = new Uint8Array();
const documents = new Map<string, string>();
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/.well-known/sig/events.jsonl") return serveFeed(request);
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
    events_uri: `${origin}/.well-known/sig/events.jsonl`,
    public_only: true,
    algorithms_supported: ["EdDSA"],
  }),
);
documents.set(
  "/.well-known/jwks.json",
  JSON.stringify({ keys: [key.publicJwk] }),
);

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

async function sign(from: number, count: number): Promise<string> {
  let text = "";
  for (let i = from; i < from + count; i++) {
    text += `${JSON.stringify(await signEvent(benchEvent(did, i), key))}\n`;
  }
  return text;
}

// All is signed before, so that signing is not measured.
const parts = [await sign(1, EVENTS)];
for (let i = 0; i <= WARM_UP + PAIRS; i++) {
  parts.push(await sign(EVENTS + 1 + i * NEW_EVENTS, NEW_EVENTS));
}
const all = new TextEncoder().encode(parts.join(""));
let length = 0;
let next = 0;
function publishMore(): void {
  length += parts[next++]!.length;
  feed = all.subarray(0, length);
}

const options = { issuers: [did], allowPrivate: true } as const;
const running = createConsumer(options);
publishMore();
await running.verify(did);

async function askNow(consumer: ReturnType<typeof createConsumer>) {
  const { decision } = await consumer.check(did, {
    ...QUESTION,
    maxAgeSeconds: 0,
  });
  if (decision !== "allow") throw new Error("not allowed");
}

function askOfMore(): Promise<void> {
  publishMore();
  return askNow(running);
}
for (let i = 0; i < WARM_UP; i++) await askOfMore();

const { a, b, ratio, processor } = await comparePairs(
  askOfMore,
  () => askNow(createConsumer(options)),
  PAIRS,
);
console.log(`feed of ${EVENTS} events, ${feed.length} bytes`);
console.log(`check after ${NEW_EVENTS} new events  ${a.toFixed(1)} ms`);
console.log(`check from nothing           ${b.toFixed(1)} ms`);
console.log(`ratio                        1/${(1 / ratio).toFixed(0)}`);
console.log(
  `processor time               ${processor.a.toFixed(1)} ms, ${
    processor.b.toFixed(0)
  } ms, 1/${(1 / processor.ratio).toFixed(0)}`,
);

const { state } = await running.verify(did);
const now = () => ({ ...QUESTION, now: new Date() });
const extra: number[] = [];
for (let i = 0; i < 15; i++) {
  const start = performance.now();
  for (let n = 0; n < CHECKS; n++) check(state, now());
  const middle = performance.now();
  for (let n = 0; n < CHECKS; n++) await running.check(did, QUESTION);
  const end = performance.now();
  extra.push((end - middle - (middle - start)) * 1000 / CHECKS);
}
console.log(
  `known issuer, beyond core's check  ${median(extra).toFixed(2)} µs`,
);
await server.shutdown();
