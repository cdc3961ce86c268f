/**
 * What one `/v1/check` on a known issuer costs the server in processor time,
 * with and without its log, beside bare Hono and beside Hono that answers as
 * much with the same headers. By the clock such servers take turns with their
 * clients and whatever else runs; processor time is theirs alone. On Linux.
 *
 * Run: npx -y deno@2.9.6 run -A bench/api_cost.ts
 *
 * @module
 */

import {
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { Connection, measureRate, postBytes } from "./http_client.ts";
import { median } from "./pairs.ts";
import { type Started, startServer } from "./servers/start.ts";

const CONNECTIONS = 32;
const ROUNDS = 9;
const SLICE_MS = 1_500;
/** Milliseconds of one tick in `/proc`. */
const TICK_MS = 10;

interface Measured {
  readonly name: string;
  readonly server: Started;
  readonly connections: readonly Connection[];
  /** Microseconds a request, by round. */
  readonly costs: number[];
}

/** Milliseconds that all threads of a process have worked. */
async function workedMs(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const store = createMemoryStore();
await using issuerServer = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  (request) => {
    const bytes = store.files.get(new URL(request.url).pathname);
    return bytes === undefined
      ? new Response(null, { status: 404 })
      : new Response(bytes.slice());
  },
);
const host = `127.0.0.1:${issuerServer.addr.port}`;
const did = `did:web:${host.replace(":", "%3A")}`;
const keys = createMemoryKeyStore();
await initIssuer({ store, keys, did, allowPrivate: true });
const issuer = await openIssuer({ store, keys, now: () => new Date() });
await issuer.appendAll(Array.from({ length: 1_000 }, (_, i) => ({
  event_type: "relationship.upsert" as const,
  subject: `did:web:person-${i}.example`,
  relationship_type: "employee" as const,
  roles: ["deploy"],
})));
await issuer.close();

const question = JSON.stringify({
  issuer: did,
  subject: "did:web:person-500.example",
  require: [{ relationship: "employee" }, { role: "deploy" }],
});
const api = [
  ...["--addr", "127.0.0.1:0", "--allow-insecure", "--issuer", host],
];
const servers: readonly (readonly [string, string, readonly string[]])[] = [
  ["bare hono", "bench/servers/bare_hono.ts", []],
  ["hono, the same answer", "bench/servers/hono_same_answer.ts", []],
  ["/v1/check", "api/main.ts", api],
  ["/v1/check, --log off", "api/main.ts", [...api, "--log", "off"]],
];

const requestOf = ({ url }: Started) =>
  postBytes(new URL("/v1/check", url), question);

async function measure({ server, connections }: Measured): Promise<number> {
  const before = await workedMs(server.pid);
  const start = performance.now();
  const rate = await measureRate(connections, requestOf(server), SLICE_MS);
  const answers = rate * (performance.now() - start) / 1000;
  return (await workedMs(server.pid) - before) * 1000 / answers;
}

const all: Measured[] = [];
try {
  for (const [name, script, args] of servers) {
    const server = await startServer(script, args);
    const connections = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => Connection.open(server.url)),
    );
    all.push({ name, server, connections, costs: [] });
    await measure(all.at(-1)!);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of round % 2 === 0 ? all : all.toReversed()) {
      each.costs.push(await measure(each));
    }
  }
  const [bare, same] = all as [Measured, Measured];
  for (const { name, costs } of all) {
    const times = (of: Measured) =>
      median(costs.map((cost, i) => cost / of.costs[i]!)).toFixed(2);
    console.log(
      `${name}: ${median(costs).toFixed(1)} µs a request, ${
        times(bare)
      } × bare hono, ${times(same)} × hono with the same answer`,
    );
  }
} finally {
  for (const { server, connections } of all) {
    for (const each of connections) each.close();
    await server.stop();
  }
}
