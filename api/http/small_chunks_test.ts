// Real sockets: what becomes of bodies that come in small chunks, and fast.
import { assertEquals, assertMatch } from "@std/assert";
import { WAIT_LIMIT_MS, within } from "../../tests/kit/wait.ts";
import { head, RawClient } from "../../tests/kit/raw_client.ts";
import { listen } from "./listen.ts";
import { createService } from "./service.ts";

const HEAD = head("POST /eat HTTP/1.1", [
  "Content-Type: application/json",
  "Transfer-Encoding: chunked",
]);

/** A part of a body without an end, in chunks of so many bytes. */
function crumbsOf(size: number): string {
  const chunk = `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`;
  return chunk.repeat(Math.ceil(120_000 / chunk.length));
}

for (const size of [1, 600, 2_000]) {
  Deno.test(`clients that send ${size} bytes at a time for ever hold up nobody else`, () =>
    holdsUpNobody(crumbsOf(size)));
}

async function holdsUpNobody(crumbs: string): Promise<void> {
  const app = createService("sig-api", [{
    method: "POST",
    path: "/eat",
    handle: async (exchange) => {
      await exchange.readJson(16 * 1024 * 1024);
      return exchange.json({});
    },
    // What takes long here is refused for what it is, not for its time.
  }], { bodyTimeoutMs: WAIT_LIMIT_MS });
  const server = listen({ hostname: "127.0.0.1", port: 0 }, app.fetch);
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
      // Of one address, and together they hold more than one may.
      const isFull = code === "overloaded";
      assertEquals(
        [status, code, detail, hint],
        isFull
          ? [
            503,
            "overloaded",
            "Cannot answer: too many large requests are being answered",
            "Ask again in a moment.",
          ]
          : [
            413,
            "body_too_large",
            "Cannot read body: it comes in too many small chunks",
            "Send it with content-length, or in chunks of 64 KiB.",
          ],
      );
      // Deno says it as well.
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
}
