/**
 * Goal 5. CPU time of a `/v1/check` on a known issuer, for a repeated and for a
 * new question, compared with Hono that sends the same response with the same
 * headers (at most 1.25 and 1.85 ×); latency at 80 % load (p99 at most 1.5 ×).
 * CPU time is used because servers share the cores with their clients. Linux
 * only.
 *
 * @module
 */

import {
  Connection,
  type Load,
  measureLatency,
  measureRate,
  measureWork,
  openConnections,
  percentile,
  postBytes,
} from "./http_client.ts";
import { alternate, median } from "./pairs.ts";
import { type Started, startServer } from "./servers/start.ts";

const EVENTS = 1_000;
const ROUNDS = 9;
const SLICE_MS = 1_500;

const issuer = await startServer("bench/servers/issuer.ts", [`${EVENTS}`]);
const { host } = issuer.url;
const api = await startServer("api/main.ts", [
  ...["--addr", "127.0.0.1:0", "--allow-insecure"],
  ...["--issuer", host, "--log", "off"],
]);

/** Returns a question; each number is another one. */
function question({ url }: Started, n = 0): Uint8Array {
  return postBytes(
    new URL("/v1/check", url),
    JSON.stringify({
      issuer: `did:web:${host.replace(":", "%3A")}`,
      subject: `did:web:person-${500 + n % 400}.example`,
      require: [{ relationship: "employee" }, { role: "deploy" }],
      ...n > 0 && { at: new Date(Date.UTC(2026, 5, 1) + n).toISOString() },
    }),
  );
}

/** Hono sends the response of our server. */
const client = await Connection.open(api.url);
const { body } = await client.ask(question(api));
client.close();
const hono = await startServer("bench/servers/bare_hono.ts", [body]);

interface Questions extends Load {
  readonly name: string;
  readonly requests: readonly Uint8Array[];
  readonly goal: string;
}

async function load(
  name: string,
  server: Started,
  distinct = 1,
  goal = "",
): Promise<Questions> {
  const connections = await openConnections(server.url);
  // Made before the measurement: a busy client would let the server wait.
  const requests = Array.from(
    { length: distinct },
    (_, i) => question(server, i),
  );
  return { name, server, requests, goal, connections };
}

/** Returns microseconds of CPU time for each request. */
async function costOf(load: Questions): Promise<number> {
  const { requests } = load;
  let sent = 0;
  const next = () => requests[sent++ % requests.length]!;
  return (await measureWork(load, next, SLICE_MS)).micros;
}

const all = [
  await load("hono, the same answer", hono),
  await load("asked before", api, 1, " (goal: at most 1.25)"),
  // More than the service keeps.
  await load("new question", api, 20_000, " (goal: at most 1.85)"),
];
try {
  const works = all.map((each) => () => costOf(each));
  const results = await alternate(works, ROUNDS);
  for (const [at, { name, goal }] of all.entries()) {
    const costs = results[at]!;
    const times = median(costs.map((cost, i) => cost / results[0]![i]!));
    console.log(
      `${name}: ${median(costs).toFixed(1)} µs per request, ` +
        `${times.toFixed(2)} ×${goal}`,
    );
  }
  const p99: number[] = [];
  for (const each of all.slice(0, 2)) {
    const request = question(each.server);
    const rate = await measureRate(each.connections, () => request, SLICE_MS);
    const times = await measureLatency(
      each.connections,
      request,
      0.8 * rate,
      5_000,
    );
    p99.push(percentile(times, 99));
    console.log(
      `${each.name} at 80 % of ${rate.toFixed(0)} per second: p99 ${
        p99.at(-1)!.toFixed(1)
      } ms`,
    );
  }
  console.log(`${(p99[1]! / p99[0]!).toFixed(2)} × (goal: at most 1.5)`);
} finally {
  for (const { connections } of all) {
    for (const each of connections) each.close();
  }
  for (const server of [api, hono, issuer]) await server.stop();
}
