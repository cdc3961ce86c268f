import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import type { RequestLogEntry } from "./request_log.ts";
import { ask, post } from "../testdata/asking.ts";
import { outcome, serviceOf } from "./testdata/service_of.ts";

// promise: The request log has the pattern of the route, never a path with
//   content.

Deno.test("each path has exactly one spelling", async () => {
  const app = serviceOf();
  assertEquals(outcome(await ask(app, "/names/a?q=1#f")), [
    200,
    '{"name":"a"}',
  ]);
  // A parameter is text and never becomes a path.
  assertEquals(
    outcome(await ask(app, "/names/%2e%2e%2fetc")),
    [200, '{"name":"../etc"}'],
  );
  const unknown = ["/", "/nowhere", "/open/", "//open", "/OPEN", "/names/a/b"];
  for (
    const path of [...unknown, "/names/", "/open;x", "/open%2f", "/healthz/"]
  ) {
    const answer = await ask(app, path);
    assertEquals(outcome(answer), [404, "not_found"], path);
    assertEquals(
      answer.body.detail,
      "Cannot answer: there is nothing at this path",
    );
  }
});

Deno.test("the health check has the whole seconds since the start", async () => {
  let ms = 500;
  const app = serviceOf({ now: () => new Date(ms) });
  ms = 3_100;
  assertEquals((await ask(app, "/healthz")).body.uptime_seconds, 2);
});

Deno.test("rejects a method that the path does not have, and lists the allowed ones", async () => {
  const app = serviceOf();
  for (
    const [path, method, allow, words] of [
      ["/open", "POST", "GET, HEAD", "GET or HEAD"],
      ["/open", "OPTIONS", "GET, HEAD", "GET or HEAD"],
      ["/open", "PROPFIND", "GET, HEAD", "GET or HEAD"],
      ["/echo", "GET", "POST", "POST"],
      ["/echo", "HEAD", "POST", "POST"],
      ["/both", "DELETE", "GET, HEAD, POST", "GET, HEAD or POST"],
    ]
  ) {
    const answer = await ask(app, path!, { method: method! });
    assertEquals(answer.status, 405);
    assertEquals(answer.headers.get("allow"), allow);
    if (method === "HEAD") continue;
    assertEquals(answer.body.code, "method_not_allowed");
    assertEquals(
      answer.body.detail,
      `Cannot answer: the method must be ${words}`,
    );
  }
});

Deno.test("pages of other sites can't post unless their origin is allowed", async () => {
  const app = serviceOf({ corsOrigins: ["https://app.example"] });
  const send = async (headers: { [name: string]: string }) =>
    outcome(await post(app, "/echo", "{}", headers));
  const site = { "sec-fetch-site": "cross-site" };
  const refused = [403, "origin_not_allowed"];
  assertEquals(await send(site), refused);
  assertEquals(
    await send({ ...site, origin: "https://evil.example" }),
    refused,
  );
  assertEquals(await send({ ...site, origin: "null" }), refused);
  assertEquals(
    (await send({ ...site, origin: "https://app.example" }))[0],
    200,
  );
  assertEquals((await send({ "sec-fetch-site": "same-origin" }))[0], 200);
  assertEquals((await send({}))[0], 200);
  // Following a link is not an attack.
  assertEquals((await ask(app, "/open", { headers: site })).status, 200);
});

Deno.test("a preflight is answered for allowed origins only", async () => {
  const preflight = (origin: string) => ({
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });
  const app = serviceOf({ corsOrigins: ["https://app.example"], token: "t" });
  const yes = await ask(app, "/echo", preflight("https://app.example"));
  assertEquals([yes.status, yes.body], [204, ""]);
  assertEquals(
    yes.headers.get("access-control-allow-origin"),
    "https://app.example",
  );
  assertEquals(yes.headers.get("access-control-allow-methods"), "GET,POST");
  assertEquals(yes.headers.get("access-control-allow-credentials"), null);
  assertEquals(yes.headers.get("content-type"), null);
  const no = await ask(app, "/echo", preflight("https://evil.example"));
  assertEquals(no.status, 204);
  assertEquals(no.headers.get("access-control-allow-origin"), null);
});

Deno.test("routes that are not open require the token", async () => {
  const app = serviceOf({ token: "s3cret" });
  const send = (authorization: string) =>
    ask(app, "/names/a", { headers: { authorization } });
  const sent = ["Bearer s3cret", "bearer s3cret", "BEARER  s3cret"];
  for (const good of [...sent, "Bearer s3cret "]) {
    assertEquals((await send(good)).status, 200, good);
  }
  const wrong = ["", "s3cret", "Bearer", "Bearer ", "Bearer s3cre"];
  const twice = ["Bearer s3cret, Bearer s3cret", "Bearer Bearer s3cret"];
  const near = ["Bearer\ts3cret", "Bearer s3cret x", "Bearers3cret"];
  const others = ["Bearer s3cretx", "Basic s3cret", "Token s3cret"];
  for (const bad of [...wrong, ...twice, ...near, ...others]) {
    const answer = await send(bad);
    assertEquals(outcome(answer), [401, "unauthorized"], bad);
    assertEquals(answer.headers.get("www-authenticate"), "Bearer");
    assertEquals(answer.body.detail, "Cannot answer: a bearer token is needed");
  }
  assertEquals((await ask(app, "/names/a")).status, 401);
  assertEquals((await ask(app, "/open")).status, 200);
  assertEquals((await ask(app, "/healthz")).status, 200);
});

Deno.test("rejects at startup a token that can't be sent", () => {
  for (const token of ["", " ", "a b", "a\n", "é", "a\u0000"]) {
    assertSigError(
      () => serviceOf({ token }),
      "invalid_request",
      "Cannot ask for a token: it must be printable ASCII without white space",
    );
  }
});

Deno.test("every response has its request id, which is also in the log", async () => {
  const log: RequestLogEntry[] = [];
  let ms = 1_000;
  const app = serviceOf({
    hosts: ["127.0.0.1"],
    log: (entry) => log.push(entry),
    now: () => new Date(ms),
  }, {
    "/broken": () => {
      ms += 7;
      throw new TypeError("why");
    },
  });
  const named = { headers: { "x-request-id": "r1" } };
  const ok = await ask(app, "/open?token=secret", named, {
    remoteAddr: { hostname: "192.0.2.1" },
  });
  assertEquals(ok.headers.get("x-request-id"), "r1");
  assertEquals(log.pop(), {
    time: "1970-01-01T00:00:01.000Z",
    level: "info",
    service: "sig-api",
    request_id: "r1",
    method: "GET",
    path: "/open",
    status: 200,
    duration_ms: 0,
    client: "192.0.2.1",
  });
  const broken = await ask(app, "/broken");
  const { error, ...entry } = log.pop()!;
  assertEquals(entry, {
    time: "1970-01-01T00:00:01.000Z",
    level: "error",
    service: "sig-api",
    request_id: broken.headers.get("x-request-id")!,
    method: "GET",
    path: "/broken",
    status: 500,
    duration_ms: 7,
    code: "internal",
  });
  assertMatch(error!, /^TypeError: why\n/);
  assert(!broken.text.includes("why"));
  // A path may contain a secret, so the route's pattern is logged.
  for (
    const [path, logged] of [
      ["/names/a.secret", "/names/:name"],
      ["/names/a.secret/misspelt", "/names/…"],
      [`/${"x".repeat(1000)}`, `/${"x".repeat(199)}`],
    ] as const
  ) {
    await ask(app, path);
    assertEquals(log.pop()!.path, logged);
  }
  // A rejection has its code but no `error`.
  await ask(app, "http://evil.example/open");
  const { level, code, error: none } = log.pop()!;
  assertEquals([level, code, none], ["info", "host_not_allowed", undefined]);
  assertEquals(log.length, 0);
});
