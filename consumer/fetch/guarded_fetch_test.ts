import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import type { FetchConditions } from "./fetch_options.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { fetchLocal, fetchText, readText } from "../testdata/fetching.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

Deno.test("a fetch returns the body, the media type and the entity tag", async () => {
  await using server = startRawServer(
    say(`${OK}etag: "v1"\r\ncontent-length: 2\r\n\r\n{}`),
  );
  const fetched = await fetchLocal(server.url);
  assertEquals(
    [fetched.unchanged, fetched.mediaType, fetched.etag, fetched.length],
    [false, "application/json", '"v1"', 2],
  );
  assertEquals(await readText(fetched), "{}");
  await assertRejects(() => readText(fetched), TypeError, "twice");
});

Deno.test("a request has only the required headers", async () => {
  await using server = startRawServer(say(`${OK}content-length: 0\r\n\r\n`));
  await fetchText(`${server.url}?a=b#c`, {
    accept: "x/y",
    conditions: { ifNoneMatch: 'W/"1"', range: { from: 7 } },
  });
  const lines = server.requests[0]!.trim().split("\r\n");
  assertEquals(lines[0], "GET /.well-known/sig.json?a=b HTTP/1.1");
  assertEquals(lines.slice(1).map((line) => line.toLowerCase()).sort(), [
    "accept-encoding: identity",
    "accept: x/y",
    "connection: close",
    `host: 127.0.0.1:${server.port}`,
    'if-none-match: w/"1"',
    "range: bytes=7-",
  ]);
});

/** Responses that are refused, and the expected errors. */
const REFUSED: readonly (readonly [
  name: string,
  answer: string,
  code: ErrorCode,
  message: string,
  conditions?: FetchConditions,
])[] = [
  ...[201, 204, 401, 404, 410, 416, 500, 503].map((status) =>
    [
      `status ${status}`,
      `HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`,
      "fetch_status",
      `the server answered with status ${status}`,
    ] as const
  ),
  ...[206, 304].map((status) =>
    [
      `status ${status} without a condition`,
      `HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`,
      "fetch_status",
      `the server answered with status ${status}, unasked`,
    ] as const
  ),
  [
    "a switch of protocols",
    "HTTP/1.1 101 X\r\nupgrade: y\r\nconnection: upgrade\r\n\r\nabc",
    "fetch_status",
    "the server answered with status 101",
  ],
  ...["6-9/10", "8-9/10", "7-8/10", "7-9/*", "*/10", "7-6/7"].map((range) =>
    [
      `the range ${range} instead of 7-`,
      `HTTP/1.1 206 X\r\ncontent-range: bytes ${range}\r\n\r\nabc`,
      "fetch_failed",
      "another range than the one asked for",
      { range: { from: 7 } },
    ] as const
  ),
  ...["items 7-9/10", "bytes=7-9/10", ""].map((range) =>
    [
      `the content range "${range}"`,
      `HTTP/1.1 206 X\r\ncontent-range: ${range}\r\n\r\nabc`,
      "fetch_failed",
      "another range than the one asked for",
      { range: { from: 7 } },
    ] as const
  ),
  ...["ab", "abcd"].map((body) =>
    [
      `a range of 3 bytes with ${body.length}`,
      `HTTP/1.1 206 X\r\ncontent-range: bytes 7-9/10\r\n\r\n${body}`,
      "fetch_failed",
      `the body has ${body.length} of 3 bytes`,
      { range: { from: 7 } },
    ] as const
  ),
  ...["text/html", "Text/HTML; charset=x", "multipart/mixed"].map((type) =>
    [
      `the media type ${type}`,
      `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n\r\n{}`,
      "fetch_media_type",
      "the server sent",
    ] as const
  ),
  [
    "another protocol",
    "SSH-2.0-OpenSSH_9.6\r\n",
    "fetch_failed",
    "the answer is not proper HTTP",
  ],
  ...["3\r\ncontent-length: 4", "-3", "2"].map((length) =>
    [
      `the content length ${JSON.stringify(length)}`,
      `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\nabcd`,
      "fetch_failed",
      "the answer is not proper HTTP",
    ] as const
  ),
  [
    "5,000 header fields",
    `${OK}${
      Array.from({ length: 5000 }, (_, i) => `x-${i}: ${i}\r\n`).join("")
    }\r\n{}`,
    "fetch_failed",
    "the answer's header is too large",
  ],
  ...["", "HTTP/1.1 200 OK\r\ncontent-le"].map((head) =>
    [
      `a connection that ends after "${head}"`,
      head,
      "fetch_failed",
      "the connection was closed",
    ] as const
  ),
  [
    "a redirect without a target",
    "HTTP/1.1 302 Found\r\n\r\n",
    "fetch_redirected",
    "the server redirects to another place (redirects are not followed)",
  ],
];

for (const [name, answer, code, message, conditions] of REFUSED) {
  Deno.test(`refuses ${name}`, async () => {
    await using server = startRawServer(say(answer));
    const error = await expectSigError(
      () => fetchText(server.url, { conditions }),
      code,
      message,
    );
    if (code !== "fetch_status") return;
    assertEquals(error.context.status, Number(/\d{3}/.exec(message)![0]));
  });
}

Deno.test("does not follow redirects, and shows only the origin of the target", async () => {
  await using target = startRawServer(say(`${OK}content-length: 0\r\n\r\n`));
  const targets = [
    [`http://127.0.0.1:${target.port}/a?secret`, `127.0.0.1:${target.port}"`],
    ["https://me:pw@other.example/x?secret", '"https://other.example"'],
    ["/elsewhere", '"http://127.0.0.1:'],
    ["//169.254.169.254/latest", '"http://169.254.169.254"'],
    ["file:///etc/hostname", 'a "file:" URL'],
    ["javascript:secret", 'a "javascript:" URL'],
    ["blob:http://a.example/secret", 'a "blob:" URL'],
    ["http://[", "another place"],
  ] as const;
  const statuses = [300, 301, 302, 303, 307, 308];
  for (const [i, [location, named]] of targets.entries()) {
    const status = statuses[i % statuses.length];
    await using server = startRawServer(
      say(`HTTP/1.1 ${status} X\r\nlocation: ${location}\r\n\r\n`),
    );
    const error = await expectSigError(
      () => fetchLocal(server.url),
      "fetch_redirected",
      named,
    );
    const shown = error.message + JSON.stringify(error.context);
    assertEquals(/secret|pw@/.test(shown), false, shown);
    assertMatch(error.context.hint ?? "", /serve the document itself/);
  }
  assertEquals(target.connections(), 0);
});

Deno.test("accepts 304 with an empty body for a conditional request", async () => {
  await using server = startRawServer(
    say('HTTP/1.1 304 Not Modified\r\netag: "v1"\r\n\r\n'),
  );
  const conditions = { ifNoneMatch: '"v1"' };
  const fetched = await fetchLocal(server.url, { conditions });
  assertEquals([fetched.unchanged, fetched.etag], [true, '"v1"']);
  assertEquals(await readText(fetched), "");
});

Deno.test("accepts 206 up to the end, and 200, for a range request", async () => {
  const range = { first: 7, last: 9, total: 10 };
  for (
    const [answer, expected, text] of [
      [
        "HTTP/1.1 206 X\r\ncontent-range: bytes 7-9/10\r\n\r\nabc",
        range,
        "abc",
      ],
      [`${OK}content-length: 10\r\n\r\n0123456789`, undefined, "0123456789"],
    ] as const
  ) {
    await using server = startRawServer(say(answer));
    const conditions = { range: { from: 7 } };
    const fetched = await fetchLocal(server.url, { conditions });
    assertEquals(fetched.range, expected);
    assertEquals(await readText(fetched), text);
  }
});

Deno.test("refuses every content encoding before it reads the body", async () => {
  const zeros = new Blob([new Uint8Array(8 * 1024 * 1024)]).stream();
  const bomb = await new Response(
    zeros.pipeThrough(new CompressionStream("gzip")),
  ).bytes();
  for (const encoding of ["gzip", "br", "deflate", "zstd", "gzip, gzip"]) {
    await using server = startRawServer(
      say(`${OK}content-encoding: ${encoding}\r\n\r\n`, bomb),
    );
    await expectSigError(
      () => fetchLocal(server.url),
      "fetch_failed",
      `the server sent content-encoding "${encoding}"`,
    );
  }
  await using server = startRawServer(
    say(`${OK}content-encoding: Identity\r\ncontent-length: 2\r\n\r\n{}`),
  );
  assertEquals(await fetchText(server.url), "{}");
});

Deno.test("drops an entity tag that can't be sent back", async () => {
  for (const tag of ["v1", '"a"b"', `"${"x".repeat(5000)}"`]) {
    await using server = startRawServer(
      say(`${OK}etag: ${tag}\r\ncontent-length: 2\r\n\r\n{}`),
    );
    const fetched = await fetchLocal(server.url);
    assertEquals(fetched.etag, null);
    await fetched.cancel();
  }
});

Deno.test("invalid options throw a RangeError or TypeError", async () => {
  const url = "https://acme.example/";
  for (
    const options of [
      { maxBytes: -1 },
      { maxBytes: NaN },
      { connectTimeoutMs: 0 },
      { totalTimeoutMs: Infinity },
      { conditions: { range: { from: -1 } } },
    ]
  ) await assertRejects(() => fetchLocal(url, options), RangeError, "must be");
  await assertRejects(
    () => fetchLocal(url, { conditions: { ifNoneMatch: '"a"\r\nx: y' } }),
    TypeError,
    "entity tag",
  );
});

Deno.test("an error shows the URL without its query", async () => {
  await using server = startRawServer(say("HTTP/1.1 404 X\r\n\r\n"));
  const error = await expectSigError(
    () => fetchLocal(`${server.url}?token=secret`),
    "fetch_status",
    `Cannot fetch "${server.url}": the server answered with status 404`,
  );
  assertEquals(error.context.url, server.url);
});
