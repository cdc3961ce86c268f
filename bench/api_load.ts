/**
 * `/v1/check` on a known issuer against bare Hono, each on one core; waiting
 * times at 80 % of that rate; `/v1/verify` of an inline feed against the bare
 * verification of its signatures; the health check beside such work.
 *
 * Run: npx -y deno@2.9.6 run -A bench/api_load.ts
 *
 * @module
 */

import {
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import {
  Connection,
  measureLatency,
  measureRate,
  percentile,
  postBytes,
} from "./http_client.ts";
import { median } from "./pairs.ts";
import { startServer } from "./servers/start.ts";
import { createHash, createPublicKey, verify } from "node:crypto";

const CONNECTIONS = 32;
const PAIRS = 11;
const SLICE_MS = 700;
const EVENTS = 1_000;

const store = createMemoryStore();
const issuerServer = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  (request) => {
    const bytes = store.files.get(new URL(request.url).pathname);
    if (bytes === undefined) return new Response(null, { status: 404 });
    const etag = `"${createHash("sha256").update(bytes).digest("hex")}"`;
    return request.headers.get("if-none-match") === etag
      ? new Response(null, { status: 304, headers: { etag } })
      : new Response(bytes.slice(), { headers: { etag } });
  },
);
const host = `127.0.0.1:${issuerServer.addr.port}`;
const did = `did:web:${host.replace(":", "%3A")}`;
const keys = createMemoryKeyStore();
await initIssuer({ store, keys, did, allowPrivate: true });
const issuer = await openIssuer({ store, keys, now: () => new Date() });
await issuer.appendAll(Array.from({ length: EVENTS }, (_, i) => ({
  event_type: "relationship.upsert" as const,
  subject: `did:web:person-${i}.example`,
  relationship_type: "employee" as const,
  roles: ["deploy"],
})));

const api = await startServer("api/main.ts", [
  ...["--addr", "127.0.0.1:0", "--allow-insecure", "--issuer", host],
]);
const bare = await startServer("bench/servers/bare_hono.ts");
try {
  await benchCheck();
  await benchVerify();
} finally {
  await api.stop();
  await bare.stop();
  await issuerServer.shutdown();
  await issuer.close();
}

async function open(url: URL): Promise<Connection[]> {
  return await Promise.all(
    Array.from({ length: CONNECTIONS }, () => Connection.open(url)),
  );
}

async function benchCheck(): Promise<void> {
  const question = JSON.stringify({
    issuer: did,
    subject: "did:web:person-500.example",
    require: [{ relationship: "employee" }, { role: "deploy" }],
  });
  const request = (url: URL) => postBytes(new URL("/v1/check", url), question);
  const apiConnections = await open(api.url);
  const bareConnections = await open(bare.url);
  const { body } = await apiConnections[0]!.ask(request(api.url));
  if (JSON.parse(body).decision !== "allow") throw new Error(body);
  const ours = () => measureRate(apiConnections, request(api.url), SLICE_MS);
  const theirs = () =>
    measureRate(bareConnections, request(bare.url), SLICE_MS);
  await ours();
  await theirs();
  const rates: { ours: number; theirs: number }[] = [];
  for (let i = 0; i < PAIRS; i++) {
    const first = i % 2 === 0 ? await ours() : await theirs();
    const second = i % 2 === 0 ? await theirs() : await ours();
    rates.push(
      i % 2 === 0
        ? { ours: first, theirs: second }
        : { ours: second, theirs: first },
    );
  }
  const rate = median(rates.map(({ ours }) => ours));
  const ratio = median(rates.map(({ ours, theirs }) => ours / theirs));
  console.log(
    `/v1/check: ${Math.round(rate)} a second, ${
      (ratio * 100).toFixed(0)
    } % of bare hono's ${
      Math.round(median(rates.map(({ theirs }) => theirs)))
    } (goal: 50 %)`,
  );
  const tell = async (
    name: string,
    connections: readonly Connection[],
    url: URL,
    perSecond: number,
  ) => {
    const late = startLateness();
    const times = await measureLatency(
      connections,
      request(url),
      perSecond,
      5_000,
    );
    console.log(
      `  ${name}: median ${percentile(times, 50).toFixed(2)} ms, p99 ${
        percentile(times, 99).toFixed(2)
      } ms; this process itself was late: p99 ${
        percentile(late.stop(), 99).toFixed(2)
      } ms`,
    );
  };
  const most = 0.8 * rate;
  const mostOfBare = 0.8 * median(rates.map(({ theirs }) => theirs));
  await tell("at 80 % of that (goal: 5 ms)", apiConnections, api.url, most);
  await tell("bare hono, as many", bareConnections, bare.url, most);
  await tell("bare hono, 80 % of its", bareConnections, bare.url, mostOfBare);
  for (const each of [...apiConnections, ...bareConnections]) each.close();
}

/** By how many milliseconds a timer of this process comes too late, sorted. */
function startLateness(): { stop(): readonly number[] } {
  const late: number[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    late.push(Math.max(0, now - last - 1));
    last = now;
  }, 1);
  return {
    stop() {
      clearInterval(timer);
      return late.sort((a, b) => a - b);
    },
  };
}

async function benchVerify(): Promise<void> {
  const text = (path: string) =>
    new TextDecoder().decode(store.files.get(`/.well-known/${path}`)!);
  const events = text("sig/events.jsonl");
  const body = JSON.stringify({
    feed: {
      metadata: JSON.parse(text("sig.json")),
      jwks: JSON.parse(text("jwks.json")),
      did_document: JSON.parse(text("did.json")),
      events,
    },
  });
  const request = postBytes(new URL("/v1/verify", api.url), body);
  const connection = await Connection.open(api.url);
  const verifyBare = bareVerification(text("jwks.json"), events);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < PAIRS; i++) {
    const start = performance.now();
    const answer = JSON.parse((await connection.ask(request)).body);
    if (answer.verified_events !== EVENTS) {
      throw new Error(JSON.stringify(answer));
    }
    ours.push(performance.now() - start);
    const next = performance.now();
    verifyBare();
    theirs.push(performance.now() - next);
  }
  const ratio = median(ours.map((ms, i) => ms / theirs[i]!));
  console.log(
    `/v1/verify of ${EVENTS} inline events: ${median(ours).toFixed(0)} ms, ${
      ratio.toFixed(2)
    } × their bare signatures`,
  );
  const health = await Connection.open(api.url);
  const ask = new TextEncoder().encode(
    `GET /healthz HTTP/1.1\r\nhost: ${api.url.host}\r\n\r\n`,
  );
  const busy = await Promise.all(
    Array.from({ length: 20 }, () => Connection.open(api.url)),
  );
  let done = false;
  const work = Promise.all(
    busy.map(async (each) => {
      for (let i = 0; i < 3; i++) await each.ask(request);
    }),
  ).then(() => void (done = true));
  const waits: number[] = [];
  while (!done) {
    const start = performance.now();
    await health.ask(ask);
    waits.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await work;
  waits.sort((a, b) => a - b);
  console.log(
    `/healthz beside 20 such verifications: median ${
      percentile(waits, 50).toFixed(1)
    } ms, p99 ${percentile(waits, 99).toFixed(1)} ms (goal: 100 ms)`,
  );
  for (const each of [connection, health, ...busy]) each.close();
}

function bareVerification(jwks: string, events: string): () => void {
  const [jwk] = JSON.parse(jwks).keys;
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const lines = events.trimEnd().split("\n").map((line) => {
    const { protected: head, payload, signature } = JSON.parse(line);
    return {
      message: new TextEncoder().encode(`${head}.${payload}`),
      signature: Uint8Array.fromBase64(signature, { alphabet: "base64url" }),
    };
  });
  return () => {
    for (const { message, signature } of lines) {
      if (!verify(null, message, key, signature)) throw new Error("invalid");
    }
  };
}
