// The HTTP contract of both servers as real processes: each route with each
// method, media type, token and error body (docs/reference/http.md).
import { assert, assertEquals } from "@std/assert";
import { head, RawClient, type RawResponse } from "../kit/raw_client.ts";
import { tempFolder } from "../kit/process.ts";
import { ServerProcess } from "../kit/server_process.ts";

// promise: `Host`, media type, `Sec-Fetch-Site` and tokens are checked before
//   anything else.

/** A route of the contract. */
interface Route {
  readonly path: string;
  /** Media type of its 200 response to `GET`; absent for a `POST` route. */
  readonly type?: string;
  /** The route needs no token. */
  readonly open?: true;
  /** The response to a body of another media type (default: 415). */
  readonly otherType?: readonly [number, string];
}

const JSON_TYPE = "application/json";
const HTML = "text/html; charset=utf-8";
const INVALID = [400, "invalid_request"] as const;

const ROUTES: { readonly [server in "api" | "web"]: readonly Route[] } = {
  api: [
    { path: "/healthz", type: JSON_TYPE, open: true },
    { path: "/openapi.json", type: JSON_TYPE, open: true },
    { path: "/docs", type: HTML, open: true },
    {
      path: "/.well-known/authzen-configuration",
      type: JSON_TYPE,
      open: true,
    },
    { path: "/v1/check" },
    { path: "/v1/check/batch" },
    { path: "/v1/verify" },
    { path: "/v1/dump-state" },
    { path: "/access/v1/evaluation", otherType: INVALID },
    { path: "/access/v1/evaluations", otherType: INVALID },
  ],
  web: [
    { path: "/", type: HTML, open: true },
    { path: "/healthz", type: JSON_TYPE, open: true },
    { path: "/v1/auth/challenge/create", open: true },
    { path: "/v1/auth/attestation/verify", open: true },
  ],
};

const METHODS = [
  ...["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"],
  ...["TRACE", "FOO", "get"],
];
const TOKEN = "token-of-the-contract-test";
const AUTHORIZED = `Authorization: Bearer ${TOKEN}`;

/** Sends one request on a separate connection. */
async function ask(
  port: number,
  method: string,
  path: string,
  headers: readonly string[] = [],
  body = "",
): Promise<RawResponse> {
  using client = await RawClient.connect(port);
  const length = body === "" && method !== "POST"
    ? []
    : [`Content-Length: ${body.length}`];
  await client.send(
    head(`${method} ${path} HTTP/1.1`, [...length, ...headers]) + body,
  );
  return await client.receive(method);
}

/** Asserts that a response is a complete problem document. */
function assertProblem(
  response: RawResponse,
  [status, code]: readonly [number, string],
  what: string,
): void {
  assertEquals(response.status, status, `${what}: ${response.body}`);
  const { headers } = response;
  assertEquals(headers.get("content-type"), "application/problem+json", what);
  assertSafe(response, what);
  const problem = JSON.parse(response.body);
  assertEquals([problem.status, problem.code], [status, code], what);
  assertEquals(problem.type, `urn:sig:problem:${code}`);
  assert(/^[A-Z][a-z ]+$/.test(problem.title), problem.title);
  assert(problem.detail.startsWith("Cannot "), problem.detail);
  assertEquals(problem.instance, headers.get("x-request-id"));
  assertEquals(
    headers.get("www-authenticate"),
    status === 401 ? "Bearer" : null,
  );
}

/** Asserts the security headers that every response has. */
function assertSafe({ headers }: RawResponse, what: string): void {
  assertEquals(headers.get("x-content-type-options"), "nosniff", what);
  assert(headers.has("x-request-id"), what);
  assert(headers.has("cache-control"), what);
  const policy = headers.get("content-security-policy") ?? "";
  assert(policy.startsWith("default-src 'none'"), `${what}: ${policy}`);
  assert(policy.includes("frame-ancestors 'none'"), `${what}: ${policy}`);
}

async function startServer(
  name: "api" | "web",
  tokenFile: string,
): Promise<ServerProcess> {
  if (name === "web") return await ServerProcess.start(name, ["--log", "off"]);
  return await ServerProcess.start(
    name,
    ["--log", "off", "--token-file", tokenFile],
    { permissions: ["--allow-net=127.0.0.1", `--allow-read=${tokenFile}`] },
  );
}

for (const name of ["api", "web"] as const) {
  Deno.test(`${name}: every route follows the contract for every method, media type and token`, async (t) => {
    await using folder = await tempFolder();
    const tokenFile = `${folder.path}/token`;
    await Deno.writeTextFile(tokenFile, TOKEN);
    await using server = await startServer(name, tokenFile);
    for (const route of ROUTES[name]) {
      await t.step(route.path, () => checkRoute(server.port, route));
    }
    await t.step("an unknown path", async () => {
      for (const method of METHODS) {
        if (method === "HEAD") continue;
        assertProblem(
          await ask(server.port, method, "/v1/nowhere", [AUTHORIZED]),
          [404, "not_found"],
          method,
        );
      }
    });
  });
}

async function checkRoute(port: number, route: Route): Promise<void> {
  const { path, type, open, otherType } = route;
  const allowed = type === undefined ? ["POST"] : ["GET", "HEAD"];
  for (const method of METHODS) {
    if (allowed.includes(method)) continue;
    const response = await ask(port, method, path, [AUTHORIZED]);
    assertEquals(response.headers.get("allow"), allowed.join(", "), method);
    if (method === "HEAD") assertEquals(response.status, 405);
    else assertProblem(response, [405, "method_not_allowed"], method);
  }
  if (open === undefined) {
    for (const given of [[], ["Authorization: Bearer wrong"]]) {
      const response = await ask(port, allowed[0]!, path, given);
      assertProblem(response, [401, "unauthorized"], path);
    }
  }
  if (type !== undefined) {
    const found = await ask(port, "GET", path);
    assertEquals([found.status, found.headers.get("content-type")], [
      200,
      type,
    ]);
    assertSafe(found, path);
    const bare = await ask(port, "HEAD", path);
    for (const header of ["content-type", "content-length", "etag"]) {
      // The length of the health response grows with the uptime.
      if (path === "/healthz" && header === "content-length") continue;
      assertEquals(bare.headers.get(header), found.headers.get(header), header);
    }
    assertEquals([bare.status, bare.body], [200, ""]);
    return;
  }
  const refused = otherType ?? [415, "unsupported_media_type"] as const;
  const send = (headers: readonly string[], body = "{}") =>
    ask(port, "POST", path, [AUTHORIZED, ...headers], body);
  for (
    const headers of [
      ...[[], ["Content-Type: text/plain"], ["Content-Type: text/json"]],
      ["Content-Type: application/x-www-form-urlencoded"],
      ["Content-Type: application/json; charset=utf-16"],
      ["Content-Type: application/json, text/plain"],
    ]
  ) assertProblem(await send(headers), refused, headers.join());
  const json = ["Content-Type: application/json; charset=UTF-8"];
  for (const body of ["", "{", '{"a":1,"a":2}', "\xff"]) {
    assertProblem(await send(json, body), [400, "invalid_json"], body);
  }
  for (const body of ["[]", "7", "null", '"x"']) {
    const response = await send(json, body);
    assertProblem(response, INVALID, body);
    const { errors } = JSON.parse(response.body);
    assertEquals(Object.keys(errors[0]), ["pointer", "code", "detail"]);
  }
}
