import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { type ErrorContext, SigError } from "@sig/core";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { PAGE_HEADERS } from "./guard.ts";
import { send, sendJson } from "./send.ts";
import type { RequestLogEntry } from "./request_log.ts";
import { ask } from "../testdata/asking.ts";
import { serviceOf } from "./testdata/service_of.ts";

const NOTHING = "default-src 'none'; frame-ancestors 'none'";

Deno.test("a response has its content type, the request id and the common headers", async () => {
  const app = serviceOf();
  app.get(
    "/reply",
    (c) =>
      send(c, "é", "text/plain", { status: 201, headers: [["etag", '"x"']] }),
  );
  const headers = { "x-request-id": "r1" };
  const answer = await ask(app, "/reply", { headers });
  assertEquals([answer.status, answer.body], [201, "é"]);
  assertEquals(Object.fromEntries(answer.headers), {
    "cache-control": "no-store",
    "content-security-policy": NOTHING,
    "content-type": "text/plain",
    "etag": '"x"',
    "x-content-type-options": "nosniff",
    "x-request-id": "r1",
  });
});

Deno.test("a response keeps its own cache rule and policy; all others, also problems, may be neither stored nor load anything", async () => {
  const app = serviceOf();
  const cached = { "cache-control": "no-cache" };
  app.get(
    "/cached",
    () => new Response(null, { status: 304, headers: cached }),
  );
  const own = { "content-security-policy": "default-src 'self'" };
  app.get("/own", (c) => c.body("", 200, own));
  for (
    const [path, cache, policy] of [
      ["/open", "no-store", NOTHING],
      ["/nowhere", "no-store", NOTHING],
      ["/cached", "no-cache", NOTHING],
      ["/own", "no-store", "default-src 'self'"],
    ] as const
  ) {
    const { headers } = await ask(app, path);
    assertEquals(headers.get("cache-control"), cache, path);
    assertEquals(headers.get("content-security-policy"), policy, path);
  }
});

Deno.test("a response to HEAD has the length of the omitted body", async () => {
  const app = serviceOf();
  app.get("/text", (c) => send(c, "é", "text/plain"));
  app.get("/large", (c) => send(c, "é".repeat(20_000), "text/plain"));
  app.get("/none", () => new Response(null, { status: 304 }));
  for (
    const [path, length] of [
      ["/text", "2"],
      ["/large", "40000"],
      ["/open", "2"],
      ["/none", null],
      ["/names/é", "13"],
    ] as const
  ) {
    const answer = await ask(app, path, { method: "HEAD" });
    assertEquals(answer.headers.get("content-length"), length, path);
    assertEquals(answer.body, "");
  }
  assertEquals((await ask(app, "/x", { method: "HEAD" })).status, 404);
});

Deno.test("any valid header value of up to 1,024 characters is accepted as request id", async () => {
  const idOf = async (id?: string) =>
    (await ask(serviceOf(), "/open", {
      headers: id === undefined ? {} : { "x-request-id": id },
    })).headers.get("x-request-id")!;
  const plain = ["a", "a b", "!~", '{"a":1}', "a, b", "a\tb"];
  const bytes = ["é", "\u0080", "Ã©", "\u00ff", "x".repeat(1_024)];
  for (const id of [...plain, ...bytes]) assertEquals(await idOf(id), id);
  for (const id of ["", "x".repeat(1_025), "a\u007fb", "a\u0001b"]) {
    assertMatch(await idOf(id), /^[0-9a-f-]{36}$/);
  }
  assertNotEquals(await idOf(), await idOf());
});

const APP = "https://app.acme.example";

Deno.test("without allowed origins no CORS header is sent", async () => {
  const headers = { origin: APP, "access-control-request-method": "POST" };
  const plain = await ask(serviceOf(), "/open", { headers });
  assertEquals(plain.headers.get("vary"), null);
  assertEquals(plain.headers.get("access-control-allow-origin"), null);
  const init = { method: "OPTIONS", headers };
  assertEquals((await ask(serviceOf(), "/open", init)).status, 405);
});

Deno.test("an allowed origin is in the CORS header, also of a problem; other origins are not", async () => {
  const app = serviceOf({
    corsOrigins: [APP, "http://localhost:3000"],
    rateLimit: { perSecond: 9 },
    now: () => new Date(0),
  });
  const from = async (origin: string, path = "/open") => {
    const answer = await ask(app, path, { headers: { origin } });
    assertEquals(answer.headers.get("vary"), "Origin");
    return [answer.status, answer.headers.get("access-control-allow-origin")];
  };
  assertEquals(await from(APP), [200, APP]);
  assertEquals(await from(APP, "/nowhere"), [404, APP]);
  const others = ["https://evil.example", "null", `${APP}.evil.example`, "*"];
  for (const origin of [...others, APP.toUpperCase(), `${APP}:444`]) {
    assertEquals(await from(origin), [200, null], origin);
  }
  assertEquals(await from(APP), [200, APP]);
  assertEquals(await from(APP), [429, APP]);
});

Deno.test("rejects an allowed origin that is not an origin", () => {
  const bad = ["", "*", "null", "app.acme.example", `${APP}/`, `${APP}/path`];
  const more = [
    `${APP}:443`,
    "HTTPS://APP.ACME.EXAMPLE",
    "https://u@a.example",
  ];
  for (const origin of [...bad, ...more, "data:,x", " https://a.example"]) {
    const { context } = assertSigError(
      () => serviceOf({ corsOrigins: [origin] }),
      "invalid_request",
      `Cannot allow origin ${JSON.stringify(origin)}: it must be an origin`,
    );
    assertEquals(context.flag, "--cors-origin");
  }
});

Deno.test("pages are isolated and may use no device", () => {
  const { "permissions-policy": features = "", ...others } = Object.fromEntries(
    PAGE_HEADERS,
  );
  assertEquals(others, {
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "x-frame-options": "DENY",
    "x-permitted-cross-domain-policies": "none",
  });
  const names = features.split(", ");
  for (const name of names) assertMatch(name, /^[a-z-]+=\(\)$/);
  assert(names.includes("camera=()") && names.includes("geolocation=()"));
  // The login page copies what it shows.
  assert(!features.includes("clipboard"));
});

/** Throws a value in a route; returns the response and the log entry. */
async function throwing(
  thrown: unknown,
  method = "GET",
  fail: () => Promise<never> = () => {
    throw thrown;
  },
) {
  const entries: RequestLogEntry[] = [];
  const app = serviceOf({ log: (entry) => entries.push(entry) });
  app.on(["GET", "POST"], "/throw", fail);
  const headers = { "x-request-id": "r1" };
  const answer = await ask(app, "/throw", { method, headers });
  return { answer, entry: entries[0]! };
}

Deno.test("an error becomes a problem with the request id", async () => {
  const error = new SigError("rate_limited", {
    action: "answer",
    reason: "slow down",
    context: { retry_after_seconds: 2.5, instance: "other", status: 200 },
  });
  const { answer, entry } = await throwing(error);
  assertEquals(answer.status, 429);
  assertEquals(answer.headers.get("retry-after"), "3");
  assertEquals(
    answer.headers.get("content-type"),
    "application/problem+json",
  );
  assertEquals(answer.body, {
    type: "urn:sig:problem:rate_limited",
    title: "Rate limited",
    status: 429,
    detail: "Cannot answer: slow down",
    code: "rate_limited",
    retry_after_seconds: 2.5,
    instance: "r1",
  });
  assertEquals([entry.code, entry.level], ["rate_limited", "info"]);
  assertEquals(entry.error, undefined);
});

Deno.test("the headers of a problem match its status", async () => {
  const rows = [
    ["unauthorized", {}, "www-authenticate", "Bearer"],
    ["method_not_allowed", { allow: "GET, HEAD" }, "allow", "GET, HEAD"],
    ["request_timeout", {}, "connection", "close"],
    ["body_too_large", {}, "connection", "close"],
    ["overloaded", {}, "connection", "close"],
    ["not_found", { retry_after_seconds: "1", allow: 2 }, "allow", null],
  ] as const;
  for (const [code, context, name, value] of rows) {
    const error = new SigError(code, { reason: "Cannot", context });
    const { answer } = await throwing(error, "POST");
    assertEquals(answer.headers.get(name), value, code);
  }
});

const circular: { [name: string]: unknown } = {};
circular.self = circular;

const UNEXPECTED: readonly (readonly [string, unknown])[] = [
  ["an error", new Error("secret")],
  ["undefined", undefined],
  ["null", null],
  ["a text", "secret"],
  ["a frozen object", Object.freeze({ message: "secret" })],
  ["a frozen error", Object.freeze(new TypeError("secret"))],
  ["an object without prototype", Object.create(null)],
  ["a look-alike", { name: "SigError", code: "not_found", message: "secret" }],
  ["a circular context", withContext(circular)],
  ["a bigint in the context", withContext({ secret: 1n })],
  [
    "a context that throws",
    withContext({
      toJSON() {
        throw new Error("secret");
      },
    }),
  ],
  ["a header that can't be", withContext({ allow: "GET\r\nx: secret" })],
];

function withContext(context: object): SigError {
  return new SigError("not_found", {
    action: "answer",
    reason: "secret",
    context: context as ErrorContext,
  });
}

Deno.test("an unexpected error becomes internal, without its details", async (t) => {
  for (const [name, thrown] of UNEXPECTED) {
    await t.step(name, async () => {
      for (const fail of [undefined, () => Promise.reject(thrown)]) {
        const { answer, entry } = await throwing(thrown, "GET", fail);
        assertEquals(answer.status, 500);
        assertEquals(answer.headers.get("cache-control"), "no-store");
        assertEquals(answer.body, {
          type: "urn:sig:problem:internal",
          title: "Internal",
          status: 500,
          detail: "Cannot go on: an internal error occurred",
          code: "internal",
          instance: "r1",
        });
        assertEquals([entry.code, entry.level], ["internal", "error"]);
      }
    });
  }
});

Deno.test("sending a value that is not JSON is an error, not an empty response", async () => {
  for (const value of [undefined, () => {}, Symbol("x")]) {
    const entries: RequestLogEntry[] = [];
    const app = serviceOf({ log: (entry) => entries.push(entry) });
    app.get("/value", (c) => sendJson(c, value));
    assertEquals((await ask(app, "/value")).status, 500);
    assertMatch(
      entries[0]!.error!,
      /^TypeError: Cannot answer: the value must be JSON\n/,
    );
  }
});
