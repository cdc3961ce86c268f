// Requests that `fetch` does not send, sent to a server as a real process.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { exchangeRaw, head, RawClient, rawPost } from "../kit/raw_client.ts";
import {
  assertUntouched,
  logEntries,
  QUESTIONS,
  ServerProcess,
} from "../kit/server_process.ts";

/** One request, with the expected status and problem code. */
interface Probe {
  readonly name: string;
  readonly data: string | Uint8Array;
  readonly status: number;
  /** Absent if the HTTP layer refuses the request without a body. */
  readonly code?: string;
}

const GET = "GET /healthz HTTP/1.1";
const JSON_TYPE = "Content-Type: application/json";

/** Requests that are not HTTP, or that two servers could parse differently. */
const SMUGGLING: readonly Probe[] = [
  ...([
    ["Content-Length and Transfer-Encoding", [
      "Content-Length: 3",
      "Transfer-Encoding: chunked",
    ]],
    ["two lengths", ["Content-Length: 3", "Content-Length: 4"]],
    ["an unknown transfer coding", ["Transfer-Encoding: xchunked"]],
    ["a length with a sign", ["Content-Length: +3"]],
    ["two hosts", ["Host: evil.example"]],
    ["a folded header", ["X-A: a", " b"]],
    ["NUL in a header", ["X-A: a\0b"]],
    ["a bare CR in a header", ["X-Request-ID: a\rb"]],
    ["a space before the colon", ["X-A : b"]],
  ] as const).map(([name, headers]) => ({
    name,
    data: head("POST /v1/check HTTP/1.1", headers) + "0\r\n\r\n",
    status: 400,
  })),
  { name: "NUL in the path", data: head("GET /a\0 HTTP/1.1"), status: 400 },
  { name: "ESC in the path", data: head("GET /\x1b[2J HTTP/1.1"), status: 400 },
  {
    name: "data that is not HTTP",
    data: "\x16\x03\x01\x02\r\n\r\n",
    status: 400,
  },
  {
    name: "a header of 500 KiB",
    data: head(GET, [`X-A: ${"a".repeat(500 * 1024)}`]),
    status: 400,
  },
  {
    name: "500 headers",
    data: head(GET, Array.from({ length: 500 }, (_, i) => `X-${i}: a`)),
    status: 400,
  },
  {
    name: "a path of 100 KiB",
    data: head(`GET /${"a".repeat(100 * 1024)} HTTP/1.1`),
    status: 400,
  },
];

const OTHER_HOST = { status: 421, code: "host_not_allowed" };
const NO_HOST = { status: 400, code: "invalid_request" };

/** Host names by which a web page could reach this server. */
const HOSTS: readonly Probe[] = [
  {
    name: "a foreign host",
    data: head(GET, [], "Host: evil.example"),
    ...OTHER_HOST,
  },
  // Each of these would shift the path of the request's URL, or is not a valid
  // host.
  ...["", "evil@localhost", "localhost/docs#", "localhost?", "a b"].map((
    host,
  ) => ({
    name: `Host: ${host}, which is not a host`,
    data: head(GET, [], `Host: ${host}`),
    ...NO_HOST,
  })),
  {
    name: "an absolute target with a foreign host",
    data: head("GET http://evil.example/healthz HTTP/1.1"),
    ...OTHER_HOST,
  },
  {
    name: "an absolute target under a foreign Host",
    data: head(
      "GET http://localhost/healthz HTTP/1.1",
      [],
      "Host: evil.example",
    ),
    ...OTHER_HOST,
  },
  {
    name: "bare LF with a foreign Host",
    data: "GET /healthz HTTP/1.1\nHost: evil.example\n\n",
    ...OTHER_HOST,
  },
];

/** A body that must not be read. */
const ENDLESS: Probe = {
  name: "chunks over the limit",
  data: head(`POST ${QUESTIONS.api.path} HTTP/1.1`, [
    ...[JSON_TYPE, "Transfer-Encoding: chunked"],
  ]) + `10000\r\n${"x".repeat(65_536)}\r\n`.repeat(300),
  ...{ status: 413, code: "body_too_large" },
};

const NOT_FOUND = { status: 404, code: "not_found" };

/** Paths without a route. */
const PATHS: readonly Probe[] = [
  ...[
    ...["/nowhere", "//healthz", "/v1/../healthz", "/%2e%2e/etc/passwd"],
    ...["/%0d%0aX-A:%20b", "/%1b[2J", "//localhost/healthz"],
  ].map((path) => ({
    name: path,
    data: head(`GET ${path} HTTP/1.1`),
    ...NOT_FOUND,
  })),
  { name: "OPTIONS *", data: head("OPTIONS * HTTP/1.1"), ...NOT_FOUND },
  ...["TRACE", "FOO", "get"].map((method) => ({
    name: `the method ${method}`,
    data: head(`${method} /healthz HTTP/1.1`),
    ...{ status: 405, code: "method_not_allowed" },
  })),
];

// Control characters, including those of Unicode.
// deno-lint-ignore no-control-regex -- they are the point
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/;

Deno.test(`every hostile request gets its expected response and logs no error`, async (t) => {
  await using server = await ServerProcess.start("api", ["--log", "json"]);
  const { path, body } = QUESTIONS.api;
  const probes = [...SMUGGLING, ...HOSTS, ...PATHS, ENDLESS];
  for (const { name, data, status, code } of probes) {
    await t.step(name, async () => {
      const response = await exchangeRaw(server.port, data);
      assertEquals(response.status, status, response.body);
      if (code === undefined) {
        assertEquals(response.body, "");
      } else {
        assertEquals(
          response.headers.get("content-type"),
          "application/problem+json",
        );
        const problem = JSON.parse(response.body);
        assertEquals([problem.code, problem.status], [code, status]);
        assertEquals(problem.type, `urn:sig:problem:${code}`);
        assertMatch(problem.instance, /^[0-9a-f-]{36}$/);
        assertEquals(problem.instance, response.headers.get("x-request-id"));
        assert(!/:\d+:\d+|\.ts\b|passwd/.test(response.body), response.body);
      }
      await assertUntouched(server);
    });
  }
  await t.step("a valid request is still answered", async () => {
    const response = await exchangeRaw(server.port, rawPost(path, body));
    assertEquals(response.status, 200, response.body);
  });
  const { code, stdout, stderr } = await server.stop();
  assertEquals([code, stdout], [0, ""]);
  assert(!CONTROL.test(stderr), "a control character in the log");
  const entries = logEntries(stderr);
  assert(entries.length > probes.length / 2);
  assertEquals(entries.filter(({ level }) => level === "error"), []);
});

Deno.test(`accepts unusual but well-formed requests, whose ids can't add a header`, async () => {
  await using server = await ServerProcess.start("api", ["--log", "off"]);
  const { path, body } = QUESTIONS.api;
  const chunked = head(`POST ${path} HTTP/1.1`, [
    JSON_TYPE,
    "Transfer-Encoding: chunked",
  ]) + `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const same = rawPost(path, body, [`Content-Length: ${body.length}`]);
  const odd = [
    ...["GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz HTTP/1.1\r\n\r\n"],
    ...["GET /healthz HTTP/1.1\nHost: localhost\n\n", chunked, same],
    ...[
      head("GET http://localhost/healthz HTTP/1.1"),
      head("GET /healthz?a=b HTTP/1.1"),
    ],
    ...[head(GET, ["Upgrade: websocket", "Connection: upgrade"])],
  ];
  for (const data of odd) {
    assertEquals((await exchangeRaw(server.port, data)).status, 200, data);
  }
  // Several pipelined requests on one connection.
  using client = await RawClient.connect(server.port);
  await client.send(head(GET).repeat(3));
  for (let i = 0; i < 3; i++) {
    assertEquals((await client.receive()).status, 200);
  }
  const idOf = async (line: string) =>
    (await exchangeRaw(server.port, head(GET, [line]))).headers;
  const split = await idOf("X-Request-ID: a\r\nX-Evil: b");
  assertEquals([split.get("x-request-id"), split.get("x-evil")], ["a", null]);
  for (const id of ["x".repeat(1_025), ""]) {
    assertMatch(
      (await idOf(`X-Request-ID: ${id}`)).get("x-request-id")!,
      /^[0-9a-f-]{36}$/,
    );
  }
});
