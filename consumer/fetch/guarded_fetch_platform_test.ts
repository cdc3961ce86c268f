import { assertEquals, assertRejects } from "@std/assert";
import { createNetworkBudget } from "./transport.ts";
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

// promise: A platform that can't choose the address is detected before anything
//   is sent.

const ANSWER = say("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n", '{"a":1}');

/**
 * A `node:http` like that of Cloudflare Workers (workerd 2026-11-17): `request`
 * opens its own connection when it is sent, and never requests one from the
 * agent.
 */
function createWorkersHttp(): NodeBuiltins["http"] {
  const request = (options: http.RequestOptions) => {
    const own = new http.Agent({ keepAlive: false });
    return http.request({ ...options, agent: own });
  };
  return { ...http, request } as NodeBuiltins["http"];
}

/** Runs `work` on a platform with such a `node:http`. */
async function withWorkersHttp<T>(work: () => Promise<T>): Promise<T> {
  const { getBuiltinModule } = process;
  process.getBuiltinModule =
    ((name: string) =>
      name === "node:http"
        ? createWorkersHttp()
        : getBuiltinModule(name)) as typeof getBuiltinModule;
  try {
    return await work();
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
}

Deno.test("a `node:http` that opens its own connections fails before anything is sent", async () => {
  await using server = startRawServer(ANSWER);
  const node = { ...loadNodeBuiltins()!, http: createWorkersHttp() };
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

Deno.test("uses the platform's fetch if connections can't be pinned", async () => {
  await using server = startRawServer(ANSWER);
  assertEquals(await withWorkersHttp(() => fetchText(server.url)), '{"a":1}');
  const [request] = server.requests;
  assertEquals(server.connections(), 1);
  // The host is that of the URL, not an address.
  const host = `host: 127.0.0.1:${server.port}`;
  assertEquals(request?.toLowerCase().includes(host), true);
});

Deno.test("does not use the platform's fetch if connections can be pinned", async () => {
  await using server = startRawServer(ANSWER);
  const { fetch } = globalThis;
  globalThis.fetch = () => Promise.reject(new Error("asked"));
  try {
    assertEquals(await fetchText(server.url), '{"a":1}');
  } finally {
    globalThis.fetch = fetch;
  }
});
