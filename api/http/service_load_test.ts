import { assertEquals } from "@std/assert";
import { SigError } from "@sig/core";
import { send, sendJson } from "./send.ts";
import { ask } from "../testdata/asking.ts";
import { outcome, serviceOf } from "./testdata/service_of.ts";
import { turns } from "../../tests/kit/wait.ts";

Deno.test("a client over its rate gets 429; other clients and health checks do not", async () => {
  let ms = 0;
  const app = serviceOf({
    rateLimit: { perSecond: 2 },
    now: () => new Date(ms),
  });
  const from = (hostname: string, path = "/open") =>
    ask(app, path, {}, { remoteAddr: { hostname } });
  assertEquals((await from("192.0.2.1")).status, 200);
  assertEquals((await from("192.0.2.1")).status, 200);
  const refused = await from("192.0.2.1");
  assertEquals(outcome(refused), [429, "rate_limited"]);
  assertEquals(refused.headers.get("retry-after"), "1");
  assertEquals((await from("192.0.2.2")).status, 200);
  assertEquals((await from("192.0.2.1", "/healthz")).status, 200);
  ms += 500;
  assertEquals((await from("192.0.2.1")).status, 200);
  assertEquals((await from("192.0.2.1")).status, 429);
});

Deno.test("an unlimited route doesn't count for the rate, but takes a slot", async () => {
  const gate = Promise.withResolvers<void>();
  const app = serviceOf({
    rateLimit: { perSecond: 1 },
    maxConcurrent: 1,
    now: () => new Date(0),
  }, {
    "/asset": async (c) => {
      await gate.promise;
      return sendJson(c, {});
    },
  });
  const first = ask(app, "/asset");
  assertEquals(outcome(await ask(app, "/asset")), [503, "overloaded"]);
  gate.resolve();
  assertEquals((await first).status, 200);
  for (let i = 0; i < 3; i++) {
    assertEquals((await ask(app, "/asset")).status, 200);
  }
  assertEquals((await ask(app, "/open")).status, 200);
  assertEquals((await ask(app, "/open")).status, 429);
});

Deno.test("every 429 and 503 says when to retry", async () => {
  const app = serviceOf({}, {
    "/store": () => {
      throw new SigError("store_unavailable", {
        action: "read store",
        reason: "it is gone",
      });
    },
    "/full": () => {
      throw new SigError("rate_limited", {
        action: "answer",
        reason: "the store is full",
        context: { retry_after_seconds: 2.5 },
      });
    },
    "/page": (c) => send(c, "busy", "text/plain", { status: 503 }),
    "/later": (c) =>
      send(c, "busy", "text/plain", {
        ...{ status: 429, headers: [["retry-after", "60"]] },
      }),
  });
  const rows = [["/store", 503, "5"], ["/full", 429, "3"]] as const;
  for (
    const [path, status, seconds] of [
      ...rows,
      ...[["/page", 503, "5"], ["/later", 429, "60"]] as const,
    ]
  ) {
    const answer = await ask(app, path);
    assertEquals(answer.status, status);
    assertEquals(answer.headers.get("retry-after"), seconds);
  }
});

Deno.test("slots are released when a route fails", async () => {
  const app = serviceOf({ maxConcurrent: 1 }, {
    "/broken": () => {
      throw undefined;
    },
  });
  for (let i = 0; i < 3; i++) {
    assertEquals(outcome(await ask(app, "/broken")), [500, "internal"]);
  }
  assertEquals((await ask(app, "/open")).status, 200);
});

Deno.test("a single backend may use all places with a token or on this machine, a stranger a quarter", async () => {
  const TOKEN = "secret-token";
  const refusedOf = async (
    options: Parameters<typeof serviceOf>[0],
    headers: HeadersInit = {},
  ) => {
    const gate = Promise.withResolvers<void>();
    const app = serviceOf({ maxConcurrent: 40, ...options }, {
      "/names/all/wait": async (c) => {
        await c.get("budget").whileWaitingFor("issuer", () => gate.promise);
        return c.body(null);
      },
    });
    let refused = 0;
    const questions = Array.from({ length: 40 }, async () => {
      const { status } = await ask(app, "/names/all/wait", { headers }, {
        remoteAddr: { hostname: "192.0.2.1" },
      });
      if (status === 503) refused++;
    });
    await turns(20);
    gate.resolve();
    await Promise.all(questions);
    return refused;
  };
  const authorization = `Bearer ${TOKEN}`;
  assertEquals(await refusedOf({}), 30);
  assertEquals(await refusedOf({ token: TOKEN }, { authorization }), 0);
  assertEquals(await refusedOf({ onlyLocal: true }), 0);
});
