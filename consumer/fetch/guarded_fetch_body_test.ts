import { createServer } from "node:net";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { fetchLocal, fetchText, hold, readText } from "../testdata/fetching.ts";
import {
  type Behaviour,
  say,
  send,
  startRawServer,
  untilClosed,
} from "../../tests/kit/raw_server.ts";
import { turns, waitUntil } from "../../tests/kit/wait.ts";

// promise: A body without a stated end is refused; nothing is decompressed;
//   bytes and time are limited.

const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;

/** Sends a text, and then `part` again and again. */
function drip(text: string, part: string): Behaviour {
  return async (connection) => {
    await send(connection, text);
    for (;;) await send(connection, part).then(() => turns(10));
  };
}

Deno.test("accepts a body of exactly the limit and refuses one byte more", async () => {
  for (const extra of [0, 1]) {
    const body = "x".repeat(1000 + extra);
    const size = body.length.toString(16);
    const answers = [
      `${OK}content-length: ${body.length}\r\n\r\n${body}`,
      `${CHUNKED}${size}\r\n${body}\r\n0\r\n\r\n`,
    ];
    for (const answer of answers) {
      await using server = startRawServer(say(answer));
      if (extra === 0) {
        assertEquals(await fetchText(server.url), body);
        continue;
      }
      const error = await expectSigError(
        () => fetchText(server.url, { tooLargeCode: "feed_too_large" }),
        "feed_too_large",
        "it is larger than 1000 bytes",
      );
      assertEquals(error.context.limit, 1000);
    }
  }
});

Deno.test("refuses a content-length over the limit without reading the body", async () => {
  await using server = startRawServer(
    hold(`${OK}content-length: 1001\r\n\r\n`),
  );
  await expectSigError(
    () => fetchLocal(server.url),
    "document_too_large",
    "it is larger than 1000 bytes",
  );
});

Deno.test("stops reading an endless body at the limit and closes the connection", async () => {
  let sent = 0;
  let isClosed = false;
  const behave = async (connection: Deno.TcpConn) => {
    await send(connection, CHUNKED);
    try {
      for (; sent < 2 ** 30; sent += 65_536) {
        await send(connection, `10000\r\n${"x".repeat(65_536)}\r\n`);
      }
    } catch {
      isClosed = true;
    }
  };
  {
    await using server = startRawServer(behave);
    await expectSigError(
      () => fetchText(server.url, { maxBytes: 300_000 }),
      "document_too_large",
      "it is larger than 300000 bytes",
    );
  }
  assert(isClosed);
  assert(sent < 2 ** 28, `${sent} bytes`);
});

Deno.test("a body that is not read is not buffered", async () => {
  let sent = 0;
  await using server = startRawServer(async (connection) => {
    await send(connection, `${OK}content-length: ${2 ** 30}\r\n\r\n`);
    for (; sent < 2 ** 30; sent += 65_536) {
      await send(connection, "x".repeat(65_536));
    }
  });
  const fetched = await fetchLocal(server.url, { maxBytes: 2 ** 31 });
  // The buffers of the two sockets fill up, and then sending stops.
  let last = -1;
  let same = 0;
  await waitUntil("sending stops", () => {
    same = sent === last ? same + 1 : 0;
    last = sent;
    return same === 20;
  });
  await fetched.cancel();
  await fetched.cancel();
  assert(sent < 2 ** 27, `${sent} bytes`);
});

Deno.test("a truncated body is fetch_failed", async () => {
  for (
    const answer of [
      `${OK}content-length: 900\r\n\r\nabc`,
      `${CHUNKED}3\r\nabc\r\n`,
      `${CHUNKED}3\r\nab`,
      `${CHUNKED}3\r\nabc\r\nzz\r\n`,
    ]
  ) {
    await using server = startRawServer(say(answer));
    const error = await expectSigError(
      () => fetchText(server.url),
      "fetch_failed",
      `Cannot fetch "${server.url}": `,
    );
    assert(["closed", "http"].includes(String(error.context.kind)));
  }
});

Deno.test("refuses a body without framing before it is read", async () => {
  const old = OK.replace("HTTP/1.1", "HTTP/1.0");
  for (
    const head of [
      OK,
      `${OK}connection: close\r\n`,
      `${OK}connection: keep-alive\r\n`,
      old,
      `${OK}transfer-encoding: \r\n`,
    ]
  ) {
    await using server = startRawServer(say(`${head}\r\n{"a":`, "1}"));
    const error = await expectSigError(
      () => fetchLocal(server.url),
      "fetch_failed",
      "the server did not say where the body ends, so it may have been cut",
    );
    assertEquals(error.context.kind, "unframed");
    assertStringIncludes(String(error.context.hint), "content-length");
  }
});

Deno.test("accepts a body with framing, also over HTTP/1.0", async () => {
  for (
    const answer of [
      `${OK.replace("1.1", "1.0")}content-length: 7\r\n\r\n{"a":1}`,
      `${OK}connection: close\r\ncontent-length: 7\r\n\r\n{"a":1}`,
      `${CHUNKED}7\r\n{"a":1}\r\n0\r\n\r\n`,
    ]
  ) {
    await using server = startRawServer(say(answer));
    assertEquals(await fetchText(server.url), '{"a":1}');
  }
});

Deno.test("a reset before or within the response is fetch_failed", async () => {
  for (const head of ["", `${OK}content-length: 900\r\n\r\nabc`]) {
    let reset = () => {};
    const server = createServer((socket) => {
      socket.on("error", () => {});
      reset = () => socket.resetAndDestroy();
      socket.once("data", () => head === "" ? reset() : socket.write(head));
    });
    await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
    const { port } = server.address() as { port: number };
    const error = await expectSigError(
      async () => {
        const fetched = await fetchLocal(`http://127.0.0.1:${port}/`);
        reset();
        await readText(fetched);
      },
      "fetch_failed",
      "the connection was closed before the answer was complete",
    );
    assertEquals(error.context.kind, "closed");
    await new Promise((done) => server.close(done));
  }
});

Deno.test("a refused connection is fetch_failed", async () => {
  const { port } = await (async () => {
    await using server = startRawServer(say());
    return server;
  })();
  const error = await expectSigError(
    () => fetchLocal(`http://127.0.0.1:${port}/`),
    "fetch_failed",
    "the connection was refused",
  );
  assertEquals(error.context.kind, "refused");
});

Deno.test("a server that never responds, stalls or drips is fetch_timeout", async () => {
  const behaviours = [
    untilClosed,
    hold("HTTP/1.1 200 OK\r\n"),
    hold(`${OK}content-length: 900\r\n\r\nabc`),
    drip("HTTP/1.1 200 OK\r\nx: ", "y"),
    drip(`${OK}content-length: 900\r\n\r\n`, "y"),
    drip("", "HTTP/1.1 103 X\r\n\r\n"),
  ];
  for (const behave of behaviours) {
    await using server = startRawServer(behave);
    const error = await expectSigError(
      () => fetchText(server.url, { totalTimeoutMs: 150 }),
      "fetch_timeout",
      "the answer took more than 150 ms",
    );
    assertEquals(error.context.limit_ms, 150);
  }
});

Deno.test("leaving the loop closes the connection", async () => {
  await using server = startRawServer(hold(`${CHUNKED}1\r\nx\r\n`));
  const fetched = await fetchLocal(server.url);
  for await (const _ of fetched.bytes) break;
});

Deno.test("cancelling ends a pending read", async () => {
  await using server = startRawServer(
    hold(`${OK}content-length: 900\r\n\r\nabc`),
  );
  const fetched = await fetchLocal(server.url);
  const reading = readText(fetched);
  await turns(3);
  await fetched.cancel();
  await expectSigError(() => reading, "fetch_failed", "closed");
});

Deno.test("an abort rejects with the caller's reason at any stage", async () => {
  await using server = startRawServer(
    hold(`${OK}content-length: 900\r\n\r\nabc`),
  );
  const signal = AbortSignal.abort(new RangeError("before"));
  await assertRejects(
    () => fetchText(server.url, { signal }),
    RangeError,
    "before",
  );
  const abort = new AbortController();
  const fetched = await fetchLocal(server.url, { signal: abort.signal });
  const reading = readText(fetched);
  await turns(3);
  abort.abort(new RangeError("enough"));
  await assertRejects(() => reading, RangeError, "enough");
});
