import { assertEquals, assertRejects } from "@std/assert";
import { createNetworkBudget } from "./network_budget.ts";
import {
  CannotPin,
  createPinnedTransport,
  loadNodeBuiltins,
  type NodeBuiltins,
} from "./pinned_transport.ts";
import { fetchText } from "../testdata/fetching.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";
import http from "node:http";
import process from "node:process";

const ANSWER = say("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n", '{"a":1}');

/**
 * A `node:http` as that of Cloudflare Workers (workerd 2026-11-17): `request`
 * makes its own connection when it is sent, and never asks the agent for one.
 */
function httpOfWorkers(): NodeBuiltins["http"] {
  const request = (options: http.RequestOptions) => {
    const own = new http.Agent({ keepAlive: false });
    return http.request({ ...options, agent: own });
  };
  return { ...http, request } as NodeBuiltins["http"];
}

/** What the work comes to on a platform with such a `node:http`. */
async function likeWorkers<T>(work: () => Promise<T>): Promise<T> {
  const { getBuiltinModule } = process;
  process.getBuiltinModule =
    ((name: string) =>
      name === "node:http"
        ? httpOfWorkers()
        : getBuiltinModule(name)) as typeof getBuiltinModule;
  try {
    return await work();
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
}

Deno.test("without a connection of our own, node:http fails before anything is sent", async () => {
  await using server = startRawServer(ANSWER);
  const node = { ...loadNodeBuiltins()!, http: httpOfWorkers() };
  const budget = createNetworkBudget(30_000);
  await assertRejects(
    () =>
      createPinnedTransport(node)({
        url: new URL(server.url),
        headers: {},
        addresses: ["127.0.0.1", "127.0.0.2"],
        connectTimeoutMs: 30_000,
      }, budget),
    CannotPin,
    "Cannot pin connection",
  );
  assertEquals(server.connections(), 0);
});

Deno.test("where connections can't be pinned, the platform's fetch gets the document", async () => {
  await using server = startRawServer(ANSWER);
  assertEquals(await likeWorkers(() => fetchText(server.url)), '{"a":1}');
  const [request] = server.requests;
  assertEquals(server.connections(), 1);
  // By its own URL, not by an address in its place.
  const host = `host: 127.0.0.1:${server.port}`;
  assertEquals(request?.toLowerCase().includes(host), true);
});

Deno.test("where connections can be pinned, the platform's fetch is not asked", async () => {
  await using server = startRawServer(ANSWER);
  const { fetch } = globalThis;
  globalThis.fetch = () => Promise.reject(new Error("asked"));
  try {
    assertEquals(await fetchText(server.url), '{"a":1}');
  } finally {
    globalThis.fetch = fetch;
  }
});
