import { Validator } from "@cfworker/json-schema";
import { ERROR_CODES } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { startIssuerServer } from "../../tests/kit/issuer_server.ts";
import { PATHS } from "../../tests/kit/test_issuer.ts";
import { type App, createApp, createRoutes } from "../app.ts";
import type { OpenApiDocument } from "./document.ts";
import { EXAMPLE_FEED } from "../testdata/example_feed.ts";

import { ask, type Asked, get, post } from "../testdata/asking.ts";

// deno-lint-ignore no-explicit-any -- documents of any shape are looked into
type Json = any;

const document: OpenApiDocument & Json =
  (await get(createApp(), "/openapi.json")).body;

/** Asserts that a value matches a schema of the document. */
function assertValid(schema: Json, value: unknown, what: string): void {
  const whole = JSON.parse(
    JSON.stringify({ ...schema, $defs: document.components.schemas })
      .replaceAll("#/components/schemas/", "#/$defs/"),
  );
  const { valid, errors } = new Validator(whole, "2020-12", false)
    .validate(value);
  assert(valid, `${what}: ${JSON.stringify(errors.slice(-3))}`);
}

function isValid(schema: Json, value: unknown): boolean {
  try {
    assertValid(schema, value, "");
    return true;
  } catch {
    return false;
  }
}

/** Asserts that a response is described by the document. */
function assertDescribed(method: string, path: string, asked: Asked): void {
  const response = document.paths[path][method].responses[asked.status];
  assert(response, `${method} ${path}: ${asked.status} is not described`);
  const type = asked.headers.get("content-type")!;
  const { schema } = response.content[type] ?? {};
  assert(schema, `${method} ${path}: ${type} is not described`);
  assertValid(schema, asked.body, `${method} ${path} ${asked.status}`);
  assertEquals(asked.headers.has("x-request-id"), true);
}

/** Creates a service with the examples' time and issuer. */
async function withExamples(work: (app: () => App) => Promise<void>) {
  await using server = startIssuerServer();
  const { metadata, jwks, did_document, events } = EXAMPLE_FEED;
  server.documents.set(PATHS.metadata, JSON.stringify(metadata));
  server.documents.set(PATHS.jwks, JSON.stringify(jwks));
  server.documents.set(PATHS.did, JSON.stringify(did_document));
  server.documents.set(PATHS.feed, events);
  await work(() =>
    createApp({
      issuers: ["acme.example"],
      publicUrl: "https://sig.acme.example",
      now: () => new Date("2026-06-01T12:00:00Z"),
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        return fetch(server.origin + pathname, { headers: request.headers });
      },
    })
  );
}

Deno.test("every example gets the documented answer, which matches its schema", async () => {
  await withExamples(async (createApp) => {
    let asked = 0;
    for (const [path, methods] of Object.entries<Json>(document.paths)) {
      for (const [method, operation] of Object.entries<Json>(methods)) {
        const body = operation.requestBody?.content["application/json"];
        const [answer] = Object.values<Json>(
          operation.responses["200"].content,
        );
        const names = Object.keys(answer.examples);
        if (body) assertEquals(Object.keys(body.examples), names);
        for (const name of names) {
          // Each from a new process, as "first_seen" says.
          const app = createApp();
          const request = body?.examples[name].value;
          if (body) assertValid(body.schema, request, `${path} ${name}`);
          const headers = { "x-request-id": "example" };
          const found = body
            ? await post(app, path, request, headers)
            : await get(app, path, headers);
          assertEquals(found.status, 200, JSON.stringify(found.body));
          assertDescribed(method, path, found);
          assertEquals(found.body, answer.examples[name].value, path);
          asked++;
        }
      }
    }
    assert(asked >= 11, `${asked}`);
  });
});

Deno.test("the served routes are the documented routes", async () => {
  const served = createRoutes({}).map(({ method, path }) =>
    `${method} ${path}`
  );
  const described = Object.entries<Json>(document.paths).flatMap((
    [path, methods],
  ) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
  assertEquals(described.sort(), served.sort());
  const app = createApp();
  for (const each of described) {
    const [method = "", path = ""] = each.split(" ");
    const { status } = method === "GET"
      ? await get(app, path)
      : await post(app, path, {});
    assertEquals(status, method === "GET" ? 200 : 400, each);
  }
  const lost = await get(app, "/v1/nothing");
  assertEquals([lost.status, lost.body.code], [404, "not_found"]);
  assertValid({ $ref: "#/components/schemas/Problem" }, lost.body, "404");
});

// promise: `Host`, media type, `Sec-Fetch-Site` and tokens are checked before
//   anything else.

Deno.test("every rejection before a route is documented", async () => {
  let ms = 0;
  const app = createApp({
    hosts: ["127.0.0.1"],
    token: "secret",
    rateLimit: { perSecond: 1 },
    now: () => new Date(ms),
  });
  const token = { authorization: "Bearer secret" };
  const full = createApp({ maxConcurrent: 0 });
  for (const path of Object.keys(document.paths)) {
    const method = "get" in document.paths[path] ? "get" : "post";
    const send = (app: App, headers: { [name: string]: string }) => {
      ms += 60_000;
      return method === "get"
        ? get(app, path, headers)
        : post(app, path, {}, headers);
    };
    const statuses: number[] = [];
    const expect = (status: number, found: Asked) => {
      assertEquals(found.status, status, `${path} ${found.body.code}`);
      assertDescribed(method, path, found);
      statuses.push(status);
    };
    const { security } = document.paths[path][method];
    if (security === undefined) expect(401, await send(app, {}));
    const foreign = `http://rebound.example${path}`;
    expect(421, await ask(app, foreign, { method }));
    expect(400, await send(app, { ...token, host: "a/docs#" }));
    expect(405, await ask(app, path, { method: "DELETE" }));
    if (path !== "/healthz" && path !== "/readyz") {
      expect(503, await send(full, {}));
      await send(app, token);
      ms -= 60_000;
      expect(429, await send(app, token));
    }
    if (method === "post") {
      const cross = { ...token, "sec-fetch-site": "cross-site" };
      expect(403, await send(app, cross));
      const typed = await send(app, { ...token, "content-type": "text/plain" });
      expect(path.startsWith("/access/") ? 400 : 415, typed);
      ms += 60_000;
      const { description } = document.paths[path][method].requestBody;
      const limit = Number(/^At most (\d+) bytes\.$/.exec(description)![1]);
      expect(413, await post(app, path, " ".repeat(limit + 1), token));
      ms += 60_000;
      expect(400, await post(app, path, " ".repeat(limit), token));
    }
  }
});

Deno.test("generators find the address, the token and the optional members", async () => {
  assertEquals(document.servers, [
    { url: "/", description: "Where this document is." },
  ]);
  const publicUrl = "https://sig.acme.example";
  const described = await get(createApp({ publicUrl }), "/openapi.json");
  assertEquals(described.body.servers[0].url, publicUrl);
  const tags = document.tags.map(({ name }: Json) => name);
  const open: string[] = [];
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const operation of Object.values<Json>(methods)) {
      assertEquals(operation.tags.length, 1, path);
      assert(tags.includes(operation.tags[0]), path);
      const isOpen = operation.security?.length === 0;
      if (isOpen) open.push(path);
      assertEquals(401 in operation.responses, !isOpen, path);
    }
  }
  assertEquals(open.sort(), [
    "/.well-known/authzen-configuration",
    "/docs",
    "/healthz",
    "/openapi.json",
    "/readyz",
  ]);
  // Generated clients can then read `data.decision` without a cast.
  const { requestBody, responses } = document.paths["/v1/check"].post;
  const refOf = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  assertEquals(
    [
      requestBody.content["application/json"].schema,
      responses[200].content["application/json"].schema,
    ],
    [refOf("CheckRequest"), refOf("CheckAnswer")],
  );
  // Generated types treat a member with a default as required.
  assert(!JSON.stringify(document.components.schemas).includes('"default"'));
});

Deno.test("the document contains every code and rejects what the service rejects", () => {
  const { schemas } = document.components;
  assertEquals(schemas.ErrorCode.enum, Object.keys(ERROR_CODES));
  const check = { $ref: "#/components/schemas/CheckRequest" };
  const good = {
    issuer: "acme.example",
    subject: "did:web:alice.example",
    require: ["role=deploy", { relationship: "employee" }],
  };
  assert(isValid(check, good));
  assert(isValid(check, { ...good, as_of: "9".repeat(20) }));
  const bad: Json[] = [
    { ...good, min_seqence: 1 },
    { ...good, sig: "https://acme.example/sig.json" },
    { ...good, require: [] },
    { ...good, require: [{ role: "a", relationship: "employee" }] },
    { ...good, require: ["title=boss"] },
    { ...good, subject: "" },
    { ...good, at: "2026-01-01T00:00:00+00:00" },
    { ...good, as_of: 0 },
    { ...good, min_sequence: -1 },
    { subject: "a", require: ["role=x"] },
  ];
  for (const each of bad) assert(!isValid(check, each), JSON.stringify(each));
  assertEquals(document.openapi, "3.1.1");
});
