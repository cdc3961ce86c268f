/**
 * `/healthz` beside the worst requests that are known: each alone, and 60 at
 * once, asked of a real `sig-api` that knows an issuer of 105,000 relationships
 * and one of 100,000 versions of a single relationship. Goal: p99 100 ms, and
 * 300 ms at worst.
 *
 * Beside it stands what the server saw itself: how late its event loop was at
 * worst, what its thread had worked in that turn and in any (to 10 ms), and its
 * memory. An answer that is late while the loop was not, or a turn that is longer than its
 * work, is due to whatever else runs on the cores.
 *
 * Run: npx -y deno@2.9.6 run -A bench/health_beside.ts [pattern of requests] [at once] [relationships]
 *
 * @module
 */

import { encodeBase64Url, generateSigningKey } from "@sig/jose";
import type { SigEvent } from "@sig/core";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { percentile, postBytes } from "./http_client.ts";
import { type Started, startServer } from "./servers/start.ts";
import type { Watched } from "./servers/watched_api.ts";

/** Fewer where a third argument says so: signing so many takes a minute. */
const RELATIONSHIPS = Number(Deno.args[2] ?? 105_000);
/** Events of the large issuer that a warning is about. */
const ODD = 1_500;
const VERSIONS = Math.min(100_000, RELATIONSHIPS);
const AT_ONCE = 60;
/** A row is broken off then: what is left of it is as what was seen. */
const LONGEST_MS = 20_000;
const UNREAD_CLIENTS = 100;
const UNREAD_PAGES = 20;
const UNREAD_MS = 5_000;
const MANY = "did:x:s";
const ONE = "did:web:one.example";

const privateJwk = await generateSigningKey({ kid: "k" });
const { d: _d, ...publicJwk } = privateJwk;
const key = createPrivateKey({ key: { ...privateJwk }, format: "jwk" });
const encoder = new TextEncoder();
const HEADER = encodeBase64Url(
  encoder.encode('{"alg":"EdDSA","kid":"k","typ":"sig-event+jws"}'),
);

/** A line of a feed; `signEvent` is several times as slow for so many. */
function line(event: SigEvent): string {
  const payload = encodeBase64Url(encoder.encode(JSON.stringify(event)));
  const bytes = sign(null, encoder.encode(`${HEADER}.${payload}`), key);
  const signature = encodeBase64Url(new Uint8Array(bytes));
  return `{"protected":"${HEADER}","payload":"${payload}","signature":"${signature}"}\n`;
}

/** Written as short as an event can be: the feed must stay below 64 MiB. */
function upsert(issuer: string, sequence: number): SigEvent {
  return {
    spec_version: "sig/0.1",
    event_id: sequence.toString(36),
    event_type: "relationship.upsert",
    issuer,
    issued_at: "2026-01-05T09:00:00Z",
    sequence,
    // In no order.
    relationship_id: ((sequence * 7919) % 1_000_003).toString(36),
    subject: sequence <= ODD ? `p${sequence}` : MANY,
    visibility: "public",
    relationship_type: "other",
    status: "active",
    roles: [],
    valid_from: null,
    valid_until: null,
  };
}

function version(issuer: string, sequence: number): SigEvent {
  const event = upsert(issuer, sequence);
  const at = new Date(Date.UTC(2026, 0, 1) + sequence * 1000);
  const issued_at = `${at.toISOString().slice(0, 19)}Z`;
  return { ...event, issued_at, subject: ONE, relationship_id: "r" };
}

type Make = (issuer: string, sequence: number) => SigEvent;

/** The documents of an issuer; no `did.json`, which is a warning. */
function documents(host: string, count: number, make: Make) {
  const issuer = `did:web:${host.replace(":", "%3A")}`;
  const lines: string[] = [];
  for (let i = 1; i <= count; i++) {
    lines.push(line(make(issuer, i)));
  }
  return {
    metadata: {
      spec_version: "sig/0.1",
      issuer,
      jwks_uri: `http://${host}/.well-known/jwks.json`,
      events_uri: `http://${host}/.well-known/sig/events.jsonl`,
      public_only: true,
      algorithms_supported: ["EdDSA"],
    },
    jwks: { keys: [publicJwk] },
    events: lines.join(""),
  };
}

/** An issuer on loopback. */
function serveIssuer(count: number, make: Make) {
  const files = new Map<
    string,
    { bytes: Uint8Array<ArrayBuffer>; etag: string }
  >();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      const file = files.get(new URL(request.url).pathname);
      if (file === undefined) return new Response(null, { status: 404 });
      const headers = { etag: file.etag };
      return request.headers.get("if-none-match") === file.etag
        ? new Response(null, { status: 304, headers })
        : new Response(file.bytes, { headers });
    },
  );
  const host = `127.0.0.1:${server.addr.port}`;
  const { metadata, jwks, events } = documents(host, count, make);
  const put = (path: string, text: string) => {
    const bytes = encoder.encode(text);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    files.set(`/.well-known/${path}`, { bytes, etag: `"${sha256}"` });
  };
  put("sig.json", JSON.stringify(metadata));
  put("jwks.json", JSON.stringify(jwks));
  put("sig/events.jsonl", events);
  return { server, host };
}

const large = serveIssuer(RELATIONSHIPS, upsert);
const long = serveIssuer(VERSIONS, version);

/** The server, when it knows both issuers. */
async function start(): Promise<Started> {
  const api = await startServer("bench/servers/watched_api.ts", [
    ...["--addr", "127.0.0.1:0", "--allow-insecure", "--max-age", "1h"],
    ...["--issuer", large.host, "--issuer", long.host],
  ], { lines: 2 });
  for (const { host } of [large, long]) {
    for (;;) {
      const answer = await fetch(new URL("/v1/check", api.url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(check(host, "p1")),
      });
      const text = await answer.text();
      if (answer.ok) break;
      // On a busy machine; what was begun goes on.
      if (answer.status !== 504) throw new Error(text);
    }
  }
  return api;
}

async function watched(api: Started): Promise<Watched> {
  return await (await fetch(api.urls[0]!)).json();
}

const probe = new Worker(
  new URL("./servers/health_probe.ts", import.meta.url),
  { type: "module" },
);

function tell(message: string | null): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    probe.onmessage = ({ data }) => resolve(data);
    probe.onerror = reject;
    probe.postMessage(message);
  });
}

interface Beside {
  readonly name: string;
  readonly path: string;
  readonly body: string;
}

/**
 * One kind of request, some at once, with the health check beside it; false when
 * it was broken off: what is left of the work would disturb what follows.
 */
async function measure(
  api: Started,
  { name, path, body }: Beside,
  times: number,
): Promise<boolean> {
  await watched(api);
  await tell(api.url.href);
  const start = performance.now();
  let bytes = 0;
  let answered = 0;
  const statuses = new Set<number>();
  const signal = AbortSignal.timeout(LONGEST_MS);
  await Promise.allSettled(Array.from({ length: times }, async () => {
    const response = await fetch(new URL(path, api.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal,
    });
    statuses.add(response.status);
    for await (const chunk of response.body!) bytes += chunk.length;
    answered++;
  }));
  const ms = performance.now() - start;
  const waits = [...await tell(null)].sort((a, b) => a - b);
  const { late, worked, rss } = await watched(api);
  const worst = late.indexOf(Math.max(...late));
  const numbers = (...all: readonly number[]) =>
    all.map((each) => each.toFixed(0).padStart(5)).join("");
  const size = bytes / Math.max(answered, 1) / 1024;
  console.log(
    `${name.padEnd(33)}${`${answered}/${times}`.padStart(6)}${
      numbers(ms).padStart(7)
    } ms${numbers(size).padStart(6)} KiB ${[...statuses].join(",")}  /healthz${
      numbers(percentile(waits, 50), percentile(waits, 99), waits.at(-1)!)
    }  loop${
      numbers(
        percentile([...late].sort((a, b) => a - b), 99),
        late[worst] ?? NaN,
        worked[worst] ?? NaN,
        Math.max(...worked),
      )
    }  ${rss.toFixed(0).padStart(5)} MiB`,
  );
  return answered === times;
}

const roles = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ role: `r${i}` }));
const check = (host: string, subject: string, more: object = {}) => ({
  issuer: host,
  subject,
  require: [{ role: "x" }],
  ...more,
});
const batch = (make: (i: number) => object) => ({
  checks: Array.from({ length: 100 }, (_, i) => make(i)),
});
const inThePast = (i: number) =>
  new Date(Date.UTC(2026, 0, 1) + (VERSIONS - i) * 1000).toISOString();
const evaluations = {
  subject: { type: "user", id: MANY },
  action: { name: "x" },
  resource: { type: "issuer", id: large.host },
  evaluations: Array.from({ length: 100 }, () => ({})),
};
/** A text of 15 MiB in a body: the limit is 16. */
const filled = (unit: string, open: string, close: string) =>
  open + unit.repeat(Math.floor(15 * 1024 * 1024 / unit.length)) + close;
const names = (count: number, length: number) =>
  Array.from(
    { length: count },
    (_, i) => `"\\u0061${String(i).padStart(length, "x")}":0`,
  ).join(",");

/** A feed that comes along: as many lines as fit, with as many roles as fit. */
const wide = documents("acme.example", 220, (issuer, sequence) => ({
  ...upsert(issuer, sequence),
  subject: MANY,
  roles: Array.from({ length: 8_500 }, (_, i) => (i % 1296).toString(36)),
} as SigEvent));
const inline = (feed: typeof wide) => ({
  ...feed,
  metadata: {
    ...feed.metadata,
    jwks_uri: "https://acme.example/.well-known/jwks.json",
    events_uri: "https://acme.example/.well-known/sig/events.jsonl",
  },
});

const firstLines = `${wide.events.split("\n").slice(0, 2).join("\n")}\n`;

/** As many as a body may hold values, a hundred times. */
const manyKeys = [
  publicJwk,
  ...await Promise.all(Array.from({ length: 70 }, async (_, i) => {
    const { d: _d, ...jwk } = await generateSigningKey({ kid: `k${i}` });
    return jwk;
  })),
];

const requests: readonly Beside[] = [
  ["one small check", "/v1/check", check(large.host, "p1")],
  ["page of 1", "/v1/dump-state", { issuer: large.host, limit: 1 }],
  ["page of 10,000", "/v1/dump-state", { issuer: large.host, limit: 10_000 }],
  ["page: expired only", "/v1/dump-state", {
    issuer: large.host,
    status: "expired",
  }],
  ["page: subject of all", "/v1/dump-state", {
    issuer: large.host,
    subject: MANY,
    limit: 1,
  }],
  ["page: at", "/v1/dump-state", {
    issuer: large.host,
    at: "2026-02-01T00:00:00Z",
    limit: 1,
  }],
  ["check, 105,000 of subject", "/v1/check", check(large.host, MANY)],
  [
    "check, 64 requirements",
    "/v1/check",
    check(large.host, MANY, {
      require: roles(64),
    }),
  ],
  [
    "check, 64 met",
    "/v1/check",
    check(large.host, MANY, {
      require: Array.from({ length: 64 }, () => "relationship=other"),
    }),
  ],
  [
    "check, explain, 64",
    "/v1/check",
    check(large.host, MANY, {
      require: roles(64),
      explain: true,
    }),
  ],
  [
    "check, at, before all",
    "/v1/check",
    check(large.host, MANY, {
      at: "2020-01-01T00:00:00Z",
    }),
  ],
  [
    "batch of 100, 64 requirements",
    "/v1/check",
    batch(() => check(large.host, MANY, { require: roles(64) })),
  ],
  [
    "batch, as_of, 100,000 versions",
    "/v1/check",
    batch((i) => check(long.host, ONE, { as_of: inThePast(i) })),
  ],
  [
    "batch, at, 100,000 versions",
    "/v1/check",
    batch((i) => check(long.host, ONE, { at: inThePast(VERSIONS - i) })),
  ],
  ["AuthZEN, 100 empty items", "/access/v1/evaluations", evaluations],
  ["body: escaped names", "/v1/check", `{${names(190_000, 60)}}`],
  ["body: short escaped names", "/v1/check", `{${names(190_000, 6)}}`],
  [
    "body: 4,000 escaped names",
    "/access/v1/evaluation",
    `{${names(4_000, 4)}}`,
  ],
  ["body: escaped text", "/v1/check", filled("\\u0061", '{"a":"', '"}')],
  ["body: quotes", "/v1/check", filled('\\"', '{"a":"', '"}')],
  ["body: backslashes", "/v1/check", filled("\\\\", '{"a":"', '"}')],
  ["body: spaces", "/v1/check", filled(" ", '{"a":', "1}")],
  ["body: plain text", "/v1/check", filled("a", '{"a":"', '"}')],
  ["body: one long number", "/v1/check", filled("1", '{"a":1', "}")],
  ["cursor of 200,000 characters", "/v1/dump-state", {
    issuer: large.host,
    cursor: btoa(`[${"0,".repeat(74_000)}00]`),
  }],
  ["inline, many short roles", "/v1/check", {
    feed: inline(wide),
    subject: MANY,
    require: roles(64),
  }],
  [
    "inline, 100 questions",
    "/v1/check",
    batch(() => ({
      feed: {
        ...inline(wide),
        events: firstLines,
      },
      subject: MANY,
      require: roles(64),
    })),
  ],
  [
    "inline, 100 of 71 keys each",
    "/v1/check",
    batch((i) => ({
      feed: {
        ...inline(wide),
        jwks: { keys: manyKeys },
        events: firstLines.slice(0, firstLines.indexOf("\n") + 1),
        did_document: { i },
      },
      subject: MANY,
      require: roles(1),
    })),
  ],
  ["inline, verify empty lines", "/v1/verify", {
    feed: { ...inline(wide), events: "\n".repeat(7_000_000) },
  }],
].map(([name, path, body]) => ({
  name: String(name),
  path: String(path),
  body: typeof body === "string" ? body : JSON.stringify(body),
}));

/** Memory while pages of 10,000 are asked for and never read. */
async function measureUnread(api: Started, clients: number) {
  const page = { issuer: large.host, limit: 10_000 };
  const request = postBytes(
    new URL("/v1/dump-state", api.url),
    JSON.stringify(page),
  );
  const rest = (await watched(api)).rss;
  const open = await Promise.all(Array.from({ length: clients }, async () => {
    const socket = await Deno.connect({
      hostname: api.url.hostname,
      port: Number(api.url.port),
    });
    // Several: the buffers of a connection swallow the first answers.
    for (let i = 0; i < UNREAD_PAGES; i++) await socket.write(request);
    return socket;
  }));
  await new Promise((resolve) => setTimeout(resolve, UNREAD_MS));
  const { rss } = await watched(api);
  const answers = await Promise.all(open.map(async (socket) => {
    const bytes = new Uint8Array(16);
    await socket.read(bytes);
    socket.close();
    return new TextDecoder().decode(bytes).slice(9, 12);
  }));
  const sent = answers.filter((status) => status === "200").length;
  console.log(
    `page of 10,000, never read: ${clients} clients, ${sent} answered 200, ` +
      `${rest.toFixed(0)} MiB at rest, ${rss.toFixed(0)} MiB at most`,
  );
}

let api = await start();
try {
  console.log(
    "request, answered, all of them, each; /healthz p50 p99 max; " +
      "loop late p99 max, worked then, worked at most; memory at most",
  );
  const wanted = new RegExp(Deno.args[0] ?? "");
  const most = Number(Deno.args[1] ?? AT_ONCE);
  if (wanted.test("never read")) await measureUnread(api, UNREAD_CLIENTS);
  for (const request of requests) {
    if (!wanted.test(request.name)) continue;
    for (const times of most > 1 ? [1, most] : [1]) {
      if (await measure(api, request, times)) continue;
      await api.stop();
      api = await start();
    }
  }
} finally {
  probe.terminate();
  await api.stop();
  await large.server.shutdown();
  await long.server.shutdown();
}
