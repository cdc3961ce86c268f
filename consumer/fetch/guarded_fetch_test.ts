import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { fetchLocal, fetchText, readText } from "../testdata/fetching.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

Deno.test("a document is fetched with its type and tag", async () => {
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

Deno.test("the request says what is asked and nothing about us", async () => {
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

Deno.test("no redirect is followed, and its target is named by origin", async () => {
  await using target = startRawServer(say(`${OK}content-length: 0\r\n\r\n`));
  const targets = [
    [`http://127.0.0.1:${target.port}/a?secret`, `127.0.0.1:${target.port}"`],
    ["https://me:pw@other.example/x?secret", '"https://other.example"'],
    ["/elsewhere", '"http://127.0.0.1:'],
    ["//169.254.169.254/latest", '"http://169.254.169.254"'],
    ["file:///etc/hostname", 'a "file:" URL'],
    ["data:text/plain,secret", 'a "data:" URL'],
    ["ftp://ftp.example/secret", 'a "ftp:" URL'],
    ["javascript:secret", 'a "javascript:" URL'],
    ["blob:http://a.example/secret", 'a "blob:" URL'],
    ["http://[", "another place"],
  ] as const;
  for (const status of [300, 301, 302, 303, 307, 308]) {
    for (const [location, named] of targets) {
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
  }
  assertEquals(target.connections(), 0);
});

Deno.test("a redirect without a target is one all the same", async () => {
  await using server = startRawServer(say("HTTP/1.1 302 Found\r\n\r\n"));
  await expectSigError(
    () => fetchLocal(server.url),
    "fetch_redirected",
    "the server redirects to another place (redirects are not followed)",
  );
});

Deno.test("every other status is fetch_status and says which", async () => {
  for (
    const [status, message] of [
      [201, "status 201"],
      [204, "status 204"],
      [206, "status 206, unasked"],
      [304, "status 304, unasked"],
      [401, "status 401"],
      [404, "status 404"],
      [410, "status 410"],
      [416, "status 416"],
      [500, "status 500"],
      [503, "status 503"],
    ] as const
  ) {
    await using server = startRawServer(
      say(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`),
    );
    const error = await expectSigError(
      () => fetchLocal(server.url),
      "fetch_status",
      message,
    );
    assertEquals(error.context.status, status);
  }
});

Deno.test("a switch of protocols is not followed", async () => {
  await using server = startRawServer(
    say("HTTP/1.1 101 X\r\nupgrade: y\r\nconnection: upgrade\r\n\r\nabc"),
  );
  await expectSigError(
    () => fetchLocal(server.url),
    "fetch_status",
    "status 101",
  );
});

Deno.test("304 answers a conditional request, with an empty body", async () => {
  await using server = startRawServer(
    say('HTTP/1.1 304 Not Modified\r\netag: "v1"\r\n\r\n'),
  );
  const fetched = await fetchLocal(server.url, {
    conditions: { ifNoneMatch: '"v1"' },
  });
  assertEquals([fetched.unchanged, fetched.etag], [true, '"v1"']);
  assertEquals(await readText(fetched), "");
});

Deno.test("206 answers a range request that reaches the end", async () => {
  await using server = startRawServer(
    say("HTTP/1.1 206 X\r\ncontent-range: bytes 7-9/10\r\n\r\nabc"),
  );
  const fetched = await fetchLocal(server.url, {
    conditions: { range: { from: 7 } },
  });
  assertEquals(fetched.range, { first: 7, last: 9, total: 10 });
  assertEquals(await readText(fetched), "abc");
});

Deno.test("200 answers a range request too, with everything", async () => {
  await using server = startRawServer(
    say(`${OK}content-length: 10\r\n\r\n0123456789`),
  );
  const fetched = await fetchLocal(server.url, {
    conditions: { range: { from: 7 } },
  });
  assertEquals(fetched.range, undefined);
  assertEquals(await readText(fetched), "0123456789");
});

Deno.test("another range than the one asked for is refused", async () => {
  for (
    const range of [
      "bytes 6-9/10",
      "bytes 8-9/10",
      "bytes 7-8/10",
      "bytes 7-9/*",
      "bytes */10",
      "bytes 7-6/7",
      "items 7-9/10",
      "bytes=7-9/10",
      "",
    ]
  ) {
    await using server = startRawServer(
      say(`HTTP/1.1 206 X\r\ncontent-range: ${range}\r\n\r\nabc`),
    );
    await expectSigError(
      () => fetchLocal(server.url, { conditions: { range: { from: 7 } } }),
      "fetch_failed",
      "another range than the one asked for",
    );
  }
});

Deno.test("a 206 whose body is not its range is refused", async () => {
  for (const body of ["ab", "abcd"]) {
    await using server = startRawServer(
      say(`HTTP/1.1 206 X\r\ncontent-range: bytes 7-9/10\r\n\r\n${body}`),
    );
    await expectSigError(
      () => fetchText(server.url, { conditions: { range: { from: 7 } } }),
      "fetch_failed",
      `the body has ${body.length} of 3 bytes`,
    );
  }
});

Deno.test("pages and several parts are fetch_media_type", async () => {
  for (const type of ["text/html", "Text/HTML; charset=x", "multipart/mixed"]) {
    await using server = startRawServer(
      say(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n\r\n{}`),
    );
    await expectSigError(
      () => fetchLocal(server.url),
      "fetch_media_type",
      "the server sent",
    );
  }
});

Deno.test("an unexpected type passes, for a warning", async () => {
  await using server = startRawServer(
    say(
      "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n" +
        "\r\n{}",
    ),
  );
  const fetched = await fetchLocal(server.url);
  assertEquals(fetched.mediaType, "text/plain");
  await fetched.cancel();
});

Deno.test("any encoding is refused before the body is read", async () => {
  const bomb = new Uint8Array(
    await new Response(
      new Blob([new Uint8Array(8 * 1024 * 1024)]).stream()
        .pipeThrough(new CompressionStream("gzip")),
    ).arrayBuffer(),
  );
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

Deno.test("a tag that can't be sent back is forgotten", async () => {
  for (const tag of ["v1", '"a"b"', `"${"x".repeat(5000)}"`]) {
    await using server = startRawServer(
      say(`${OK}etag: ${tag}\r\ncontent-length: 2\r\n\r\n{}`),
    );
    const fetched = await fetchLocal(server.url);
    assertEquals(fetched.etag, null);
    await fetched.cancel();
  }
});

Deno.test("what is not HTTP is fetch_failed", async () => {
  const flood = Array.from({ length: 5000 }, (_, i) => `x-${i}: ${i}\r\n`);
  for (
    const [answer, message] of [
      ["SSH-2.0-OpenSSH_9.6\r\n", "the answer is not proper HTTP"],
      [
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
        "the answer is not proper HTTP",
      ],
      [
        "HTTP/1.1 200 OK\r\ncontent-length: -3\r\n\r\nabc",
        "the answer is not proper HTTP",
      ],
      [`${OK}${flood.join("")}\r\n{}`, "the answer's header is too large"],
      ["", "the connection was closed"],
      ["HTTP/1.1 200 OK\r\ncontent-le", "the connection was closed"],
    ] as const
  ) {
    await using server = startRawServer(say(answer));
    await expectSigError(
      () => fetchText(server.url),
      "fetch_failed",
      message,
    );
  }
});

Deno.test("options that make no sense are the caller's mistake", async () => {
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

Deno.test("an error tells the URL without its query", async () => {
  await using server = startRawServer(say("HTTP/1.1 404 X\r\n\r\n"));
  const code: ErrorCode = "fetch_status";
  const error = await expectSigError(
    () => fetchLocal(`${server.url}?token=secret`),
    code,
    `Cannot fetch "${server.url}": the server answered with status 404`,
  );
  assertEquals(error.context.url, server.url);
});
