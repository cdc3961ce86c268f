import { assertEquals } from "@std/assert";
import { type ErrorContext, SigError } from "@sig/core";
import { Exchange } from "./exchange.ts";
import { Load, RequestFlow } from "./request_flow.ts";

function exchangeOf(
  method = "GET",
  headers: [string, string][] = [],
): Exchange {
  return new Exchange(new Request("http://127.0.0.1/", { method }), {
    requestId: "r1",
    headers,
    bodyTimeoutMs: 1_000,
    sendTimeoutMs: 1_000,
    flow: new RequestFlow(
      new Load({ places: 1, heldBytes: 1_000_000 }),
      () => "",
    ),
  });
}

Deno.test("a reply carries its type, the request's name and the service's headers", async () => {
  const exchange = exchangeOf("GET", [["vary", "origin"]]);
  const response = exchange.reply("é", {
    status: 201,
    type: "text/plain",
    headers: [["etag", '"x"']],
  });
  assertEquals([response.status, await response.text()], [201, "é"]);
  assertEquals(Object.fromEntries(response.headers), {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "content-type": "text/plain",
    "etag": '"x"',
    "vary": "origin",
    "x-content-type-options": "nosniff",
    "x-request-id": "r1",
  });
});

Deno.test("caches keep a reply only if its headers say so", () => {
  const headers = [["cache-control", "no-cache"]] as const;
  const response = exchangeOf().reply(null, { status: 304, headers });
  assertEquals(response.headers.get("cache-control"), "no-cache");
  assertEquals(response.headers.get("content-type"), null);
});

Deno.test("what has no policy of its own may load nothing, problems too", () => {
  const exchange = exchangeOf();
  const policyOf = (response: Response) =>
    response.headers.get("content-security-policy");
  const nothing = "default-src 'none'; frame-ancestors 'none'";
  assertEquals(policyOf(exchange.json({})), nothing);
  assertEquals(policyOf(exchange.refuse(new Error("x"))), nothing);
  const headers = [["content-security-policy", "default-src 'self'"]] as const;
  assertEquals(policyOf(exchange.reply("", { headers })), "default-src 'self'");
});

Deno.test("the answer to HEAD has the length of the body that it leaves out", async () => {
  const exchange = exchangeOf("HEAD");
  for (
    const [response, length] of [
      [exchange.reply("é", { type: "text/plain" }), "2"],
      [exchange.json({}), "2"],
      [exchange.reply(null, { status: 304 }), null],
    ] as const
  ) {
    assertEquals(response.headers.get("content-length"), length);
    assertEquals(await response.text(), "");
  }
});

Deno.test("what is no JSON value is a mistake, not an empty answer", () => {
  const exchange = exchangeOf();
  for (const value of [undefined, () => {}, Symbol("x")]) {
    let thrown: unknown;
    try {
      exchange.json(value);
    } catch (error) {
      thrown = error;
    }
    assertEquals(
      String(thrown),
      "TypeError: Cannot answer: the value must be JSON",
    );
  }
});

Deno.test("an error is told as a problem with the request's name", async () => {
  const exchange = exchangeOf();
  const error = new SigError("rate_limited", "Cannot answer: slow down", {
    // The second must not replace what is ours to say.
    context: { retry_after_seconds: 3, instance: "other", status: 200 },
  });
  const response = exchange.refuse(error);
  assertEquals(response.status, 429);
  assertEquals(response.headers.get("retry-after"), "3");
  assertEquals(
    response.headers.get("content-type"),
    "application/problem+json",
  );
  assertEquals(await response.json(), {
    type: "urn:sig:problem:rate_limited",
    title: "Rate limited",
    status: 429,
    detail: "Cannot answer: slow down",
    code: "rate_limited",
    retry_after_seconds: 3,
    instance: "r1",
  });
  assertEquals(exchange.problem?.code, "rate_limited");
  assertEquals(exchange.thrown, undefined);
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
  return new SigError("not_found", "Cannot answer: secret", {
    context: context as ErrorContext,
  });
}

Deno.test("whatever else is thrown is internal, and nothing of it is told", async (t) => {
  for (const [name, thrown] of UNEXPECTED) {
    await t.step(name, async () => {
      const exchange = exchangeOf();
      const response = exchange.refuse(thrown);
      assertEquals(response.status, 500);
      assertEquals(await response.json(), {
        type: "urn:sig:problem:internal",
        title: "Internal",
        status: 500,
        detail: "Cannot go on: an internal error occurred",
        code: "internal",
        instance: "r1",
      });
      assertEquals(exchange.problem?.code, "internal");
    });
  }
});
