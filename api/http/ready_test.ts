import { assertEquals } from "@std/assert";
import { openPinStore } from "@sig/consumer/pins";
import { startIssuerServer, status } from "../../tests/kit/issuer_server.ts";
import {
  HAS_REDIS,
  startRedis,
  whileFrozen,
} from "../../tests/kit/redis_server.ts";
import { NOW, PATHS } from "../../tests/kit/test_issuer.ts";
import { createApp } from "../app.ts";
import { get } from "../testdata/asking.ts";

// promise: `/readyz` asks stores and issuers once in 5 s, and names issuers
//   only with the token.

/** Two issuers that respond with this status, and a service that lists them. */
function start(codes: readonly number[], token?: string) {
  const servers = codes.map((code) => {
    const server = startIssuerServer();
    server.documents.set(PATHS.metadata, status(code));
    return server;
  });
  let clockMs = NOW.getTime();
  const app = createApp({
    issuers: servers.map(({ did }) => did),
    allowPrivate: true,
    token,
    now: () => new Date(clockMs),
  });
  return {
    app,
    servers,
    pass: (ms: number) => clockMs += ms,
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a service is ready if at least one listed issuer answers", async () => {
  for (const codes of [[200, 200], [503, 200], [200, 404]]) {
    await using service = start(codes);
    const { status, body } = await get(service.app, "/readyz");
    assertEquals([status, body], [200, { status: "ready" }], `${codes}`);
  }
});

Deno.test("unreachable issuers are shown only to requests with the token", async () => {
  await using service = start([503, 404], "a-long-token");
  const ask = (headers = {}) => get(service.app, "/readyz", headers);
  for (const headers of [{}, { authorization: "Bearer guessed" }]) {
    const { status, body, headers: sent } = await ask(headers);
    assertEquals(status, 503);
    assertEquals(sent.has("retry-after"), true);
    assertEquals(body, {
      status: "not_ready",
      checks: { issuers: "unreachable" },
    });
  }
  const { status, body } = await ask({ authorization: "Bearer a-long-token" });
  const [first, second] = service.servers;
  assertEquals([status, body], [503, {
    status: "not_ready",
    checks: {
      issuers: { [first!.did]: "fetch_status", [second!.did]: "fetch_status" },
    },
  }]);
  // Without a configured token no request can have it.
  await using open = start([503]);
  const { body: named } = await get(open.app, "/readyz", {
    authorization: "Bearer undefined",
  });
  assertEquals(named.checks, { issuers: "unreachable" });
});

Deno.test("issuers are queried once in 5 s, and only for their metadata", async () => {
  await using service = start([503]);
  const [{ requests, documents }] = service.servers as [
    typeof service.servers[0] & object,
  ];
  const ask = async () => (await get(service.app, "/readyz")).status;
  assertEquals(await Promise.all([ask(), ask()]), [503, 503]);
  documents.set(PATHS.metadata, "{}");
  service.pass(4_999);
  assertEquals(await ask(), 503);
  assertEquals(requests, [PATHS.metadata]);
  service.pass(1);
  assertEquals(await ask(), 200);
  assertEquals(requests, [PATHS.metadata, PATHS.metadata]);
});

Deno.test({
  name: "a service is not ready if its store is unreachable",
  ignore: !HAS_REDIS,
  async fn() {
    const redis = await startRedis();
    const pins = await openPinStore(redis.url);
    let clockMs = NOW.getTime();
    const app = createApp({ pins, now: () => new Date(clockMs) });
    assertEquals((await get(app, "/readyz")).status, 200);
    clockMs += 5_000;
    await whileFrozen(redis, async () => {
      const { status, body } = await get(app, "/readyz");
      assertEquals([status, body], [503, {
        status: "not_ready",
        checks: { pins: "store_unavailable" },
      }]);
    });
    clockMs += 5_000;
    assertEquals((await get(app, "/readyz")).status, 200);
    await pins.close();
    await redis.stop();
  },
});
