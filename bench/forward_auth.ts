/**
 * What a proxy asks before each request: `GET /forward-auth` with a live session,
 * at a host of its own and at the login's, against bare Hono answering nothing,
 * each on one core. Beside it, one without a session.
 * Run: `deno run -A bench/forward_auth.ts`
 *
 * @module
 */
import { Visitor } from "../web/gate/testdata/visitor.ts";
import { Person } from "../web/testdata/independent_client.ts";
import { Connection, getBytes } from "./http_client.ts";
import { median } from "./pairs.ts";
import { GATE_HOST } from "./servers/openid_clients.ts";
import { processorSeconds } from "./servers/process_figures.ts";
import { type Started, startServer } from "./servers/start.ts";

const CONNECTIONS = 32;
const PAIRS = 11;
const SLICE_MS = 500;

const own = await startServer("bench/servers/openid_own.ts");
const bare = await startServer("bench/servers/bare_hono.ts");
const { origin } = own.url;

const person = new Person();
await (await fetch(`${origin}/demo/enrol`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ subject: person.did }),
})).body?.cancel();
const visitor = new Visitor({ origin, now: () => new Date() });
await visitor.logIn(person, `http://${GATE_HOST}/`);

interface Load {
  readonly server: Started;
  readonly connections: readonly Connection[];
  readonly request: Uint8Array;
  readonly status: number;
}

async function load(
  server: Started,
  headers: Record<string, string>,
  status = 200,
): Promise<Load> {
  const url = new URL("/forward-auth", server.url);
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => Connection.open(url)),
  );
  return { server, connections, request: getBytes(url, headers), status };
}

/** Answers a second, and microseconds of processor time for each. */
async function measure({ server, connections, request, status }: Load) {
  const before = await processorSeconds(server.pid);
  const began = performance.now();
  let answers = 0;
  await Promise.all(connections.map(async (connection) => {
    while (performance.now() - began < SLICE_MS) {
      const answer = await connection.ask(request);
      if (answer.status !== status) throw new Error(`${answer.status}`);
      answers++;
    }
  }));
  const seconds = (performance.now() - began) / 1000;
  const work = await processorSeconds(server.pid) - before;
  return { rate: answers / seconds, micros: work / answers * 1e6 };
}

const at = visitor.at(GATE_HOST).cookie;
const loads: Readonly<Record<string, Load>> = {
  "a host of its own": await load(own, {
    ...{ cookie: at, "x-forwarded-host": GATE_HOST },
  }),
  "the login's host": await load(own, { cookie: visitor.login.cookie }),
  "nobody": await load(own, { "x-forwarded-host": GATE_HOST }, 401),
};
// The same bytes: what costs less to read is no floor.
const floor = await load(bare, { cookie: at, "x-forwarded-host": GATE_HOST });
await measure(floor);
for (const [name, ours] of Object.entries(loads)) {
  await measure(ours);
  const pairs = [];
  for (let i = 0; i < PAIRS; i++) {
    const [first, second] = i % 2 === 0 ? [ours, floor] : [floor, ours];
    const [a, b] = [await measure(first), await measure(second)];
    pairs.push(i % 2 === 0 ? { a, b } : { a: b, b: a });
  }
  const ratio = median(pairs.map(({ a, b }) => a.rate / b.rate));
  const work = median(pairs.map(({ a, b }) => b.micros / a.micros));
  console.log(
    `${name}: ${median(pairs.map(({ a }) => a.rate)).toFixed(0)} a second, ${
      (ratio * 100).toFixed(0)
    } % of bare hono's ${
      median(pairs.map(({ b }) => b.rate)).toFixed(0)
    }; by processor time ${(work * 100).toFixed(0)} % (${
      median(pairs.map(({ a }) => a.micros)).toFixed(0)
    } µs); goal 50 %`,
  );
}
for (const { connections } of [...Object.values(loads), floor]) {
  for (const connection of connections) connection.close();
}
await own.stop();
await bare.stop();
