/**
 * Goal 7. `/healthz` during the most expensive known requests, each alone and
 * 60 concurrent (p99 at most 100 ms, maximum 300 ms), sent to a `sig-api` with
 * an issuer that has many relationships of one subject. Arguments:
 * relationships, number of concurrent requests.
 *
 * @module
 */

import {
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
  upsert,
} from "../tests/kit/test_issuer.ts";
import { startConditionalServer } from "../tests/kit/conditional_server.ts";
import { Connection, getBytes, percentile } from "./http_client.ts";
import { startServer } from "./servers/start.ts";

const RELATIONSHIPS = Number(Deno.args[0] ?? 100_000);
const CONCURRENT = Number(Deno.args[1] ?? 60);
const MANY = "did:x:s";
/** Requests in progress are aborted at the end. */
const TIMEOUT_MS = 20_000;

const issuer = startConditionalServer();
const { did, origin, documents } = issuer;
const [key] = await importTestKeys();
const lines: string[] = [];
for (let i = 1; i <= RELATIONSHIPS; i++) {
  lines.push(await lineOf(upsert(i, { issuer: did, subject: MANY }), key));
}
const all = makeDocuments({ did, origin, keys: [key], lines });
for (const [path, text] of all) documents.set(path, text);
const host = origin.slice("http://".length);
const api = await startServer("api/main.ts", [
  ...["--addr", "127.0.0.1:0", "--allow-insecure", "--max-age", "1h"],
  ...["--issuer", host, "--log", "off"],
]);

const roles = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ role: `r${i}` }));
const check = (more: object = {}) => ({
  ...{ issuer: host, subject: MANY, require: roles(1), ...more },
});
const batch = (more: (i: number) => object) => ({
  checks: Array.from({ length: 100 }, (_, i) => check(more(i))),
});
/** A body of the maximum size. */
const filled = (unit: string, open: string, close: string) =>
  open + unit.repeat(Math.floor(3.9 * 1024 * 1024 / unit.length)) + close;
const at = (i: number) => new Date(Date.UTC(2026, 0, 2) + i).toISOString();
const feed = {
  metadata: JSON.parse(String(all.get(PATHS.metadata))),
  jwks: JSON.parse(String(all.get(PATHS.jwks))),
  events: `${lines.slice(0, 3_000).join("\n")}\n`,
};

const REQUESTS: readonly (readonly [path: string, body: unknown])[] = [
  ["/v1/check", check()],
  ["/v1/check", check({ require: roles(64), explain: true })],
  ["/v1/check", batch(() => ({ require: roles(64) }))],
  ["/v1/check", batch((i) => ({ at: at(i) }))],
  ["/v1/check", batch((i) => ({ as_of: at(i) }))],
  ["/v1/dump-state", { issuer: host, limit: 10_000 }],
  ["/v1/dump-state", { issuer: host, status: "expired" }],
  ["/v1/verify", { feed }],
  ["/v1/check", filled("\\u0061", '{"a":"', '"}')],
  ["/v1/check", filled(" ", '{"a":', "1}")],
];

/** Bodies are encoded once: encoding them would delay the measured request. */
const encode = (body: unknown) =>
  new TextEncoder().encode(
    typeof body === "string" ? body : JSON.stringify(body),
  );

async function send(
  path: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const response = await fetch(new URL(path, api.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
}

const health = await Connection.open(api.url);
const request = getBytes(new URL("/healthz", api.url), {});
await send(REQUESTS[0]![0], encode(REQUESTS[0]![1]));
try {
  for (const [path, body] of REQUESTS) {
    const bytes = encode(body);
    for (const times of [1, CONCURRENT]) {
      let isOver = false;
      const work = Promise.allSettled(
        Array.from({ length: times }, () => send(path, bytes)),
      ).then(() => isOver = true);
      const waits: number[] = [];
      do {
        const start = performance.now();
        await health.ask(request);
        waits.push(performance.now() - start);
        await new Promise((resolve) => setTimeout(resolve, 5));
      } while (!isOver);
      await work;
      waits.sort((a, b) => a - b);
      console.log(
        `${times} × ${path} ${JSON.stringify(body).slice(0, 60)}: p99 ${
          percentile(waits, 99).toFixed(0)
        } ms, maximum ${waits.at(-1)!.toFixed(0)} ms`,
      );
    }
  }
  console.log("(goals: p99 at most 100 ms, maximum at most 300 ms)");
} finally {
  health.close();
  await api.stop();
  await issuer[Symbol.asyncDispose]();
}
