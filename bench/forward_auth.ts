/**
 * Goal 6. The request of a proxy before each request of a user: `GET
 * /forward-auth` with a valid session for a protected host, compared with bare
 * Hono that sends an empty response (at least 45 % of its rate), each on one
 * core. Linux only.
 *
 * @module
 */

import { Visitor } from "../web/gate/testdata/visitor.ts";
import { Person } from "../web/testdata/independent_client.ts";
import {
  getBytes,
  type Load,
  measureWork,
  openConnections,
} from "./http_client.ts";
import { alternate, median } from "./pairs.ts";
import { GATE_HOST } from "./servers/openid_clients.ts";
import { type Started, startServer } from "./servers/start.ts";

const PAIRS = 11;
const SLICE_MS = 500;

const own = await startServer("bench/servers/openid_own.ts");
const bare = await startServer("bench/servers/bare_hono.ts");
const { origin } = own.url;
const person = new Person();
await (await fetch(`${origin}/enrol`, { method: "POST", body: person.did }))
  .bytes();
const visitor = new Visitor({ origin, now: () => new Date() });
await visitor.logIn(person, `http://${GATE_HOST}/`);
// Both servers get the same bytes, because a smaller request costs less to
// parse.
const headers = {
  cookie: visitor.at(GATE_HOST).cookie,
  "x-forwarded-host": GATE_HOST,
};

async function load(server: Started): Promise<Load> {
  return { server, connections: await openConnections(server.url) };
}

function measure(load: Load) {
  const request = getBytes(new URL("/forward-auth", load.server.url), headers);
  return measureWork(load, () => request, SLICE_MS);
}

const ours = await load(own);
const floor = await load(bare);
const [as = [], bs = []] = await alternate(
  [() => measure(ours), () => measure(floor)],
  PAIRS,
);
const rate = median(as.map((a, i) => a.rate / bs[i]!.rate));
const work = median(as.map((a, i) => bs[i]!.micros / a.micros));
console.log(
  `${(rate * 100).toFixed(0)} % of bare hono's ${
    median(bs.map((b) => b.rate)).toFixed(0)
  } per second, by CPU time ${(work * 100).toFixed(0)} % ` +
    "(goal: at least 45 %)",
);
for (const each of [...ours.connections, ...floor.connections]) each.close();
await own.stop();
await bare.stop();
