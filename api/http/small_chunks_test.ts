// Bodies that arrive fast and in small chunks, over real sockets.
import { assertEquals, assertMatch } from "@std/assert";
import { WAIT_LIMIT_MS, within } from "../../tests/kit/wait.ts";
import { head, RawClient } from "../../tests/kit/raw_client.ts";
import { listen } from "../program/listen.ts";
import { readJson } from "./read_body.ts";
import { sendJson } from "./send.ts";
import { createService, toApp } from "./service.ts";

// promise: Bodies in small chunks do not delay other requests.

const HEAD = head("POST /eat HTTP/1.1", [
  "Content-Type: application/json",
  "Transfer-Encoding: chunked",
]);

/** A part of an endless body, in chunks of a given size. */
function crumbsOf(size: number): string {
  const chunk = `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`;
  return chunk.repeat(Math.ceil(120_000 / chunk.length));
}

Deno.test("clients that send small chunks without end block no other client", async () => {
  const crumbs = crumbsOf(600);
  const app = createService({
    ...{ service: "sig-api", version: "0.1.0" },
    // The timeout is long, so that only the number of chunks is rejected.
    bodyTimeoutMs: WAIT_LIMIT_MS,
  });
  app.post("/eat", async (c) => {
    await readJson(c, 4 * 1024 * 1024);
    return sendJson(c, {});
  });
  const address = { hostname: "127.0.0.1", port: 0 };
  const server = listen(address, toApp(app).fetch);
  const { port } = new URL(server.url);
  const clients = await Promise.all(
    Array.from({ length: 4 }, () => RawClient.connect(Number(port))),
  );
  let isOver = false;
  const sending = clients.map(async (client) => {
    await client.send(HEAD);
    while (!isOver && await client.send(crumbs));
  });
  try {
    for (const client of clients) {
      const { status, headers, body } = await client.receive();
      const { code, detail, hint } = JSON.parse(body);
      assertEquals([status, code, detail, hint], [
        413,
        "body_too_large",
        "Cannot read body: it comes in too many small chunks",
        "Send it with content-length, or in chunks of 64 KiB.",
      ]);
      // Deno sends this header too.
      assertMatch(headers.get("connection") ?? "", /^close\b/);
    }
    const response = await fetch(`${server.url}/eat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    assertEquals([response.status, await response.text()], [200, "{}"]);
    // Then nothing of them is left.
    for (const client of clients) {
      assertEquals((await client.receive()).status, 0);
    }
  } finally {
    isOver = true;
    for (const client of clients) client[Symbol.dispose]();
    await Promise.all(sending);
    await server.shutdown(WAIT_LIMIT_MS);
    await within("the connections are closed", server.finished);
  }
});
