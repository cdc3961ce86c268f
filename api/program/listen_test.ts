import { assertEquals, assertMatch } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { head, RawClient } from "../../tests/kit/raw_client.ts";
import { listen } from "./listen.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const ok = () => Promise.resolve(new Response("ok"));

Deno.test("rejects an unavailable address", async () => {
  const server = listen(LOOPBACK, ok);
  const port = Number(new URL(server.url).port);
  for (
    const [hostname, wanted, why] of [
      ["127.0.0.1", port, "another program listens there"],
      ["192.0.2.1", 0, "address not available on this machine"],
      ["no-such-host.invalid", 0, "the system refused it"],
    ] as const
  ) {
    const { context } = assertSigError(
      () => listen({ hostname, port: wanted }, ok),
      "invalid_request",
      `Cannot listen on ${hostname}:${wanted}: ${why}`,
    );
    assertEquals(context.flag, "--addr");
  }
  await server.shutdown(1_000);
  await server.finished;
});

Deno.test("the URL has brackets around an IPv6 address", async () => {
  const server = listen({ hostname: "::1", port: 0 }, ok);
  assertMatch(server.url, /^http:\/\/\[::1\]:\d+$/);
  assertEquals(await (await fetch(server.url)).text(), "ok");
  await server.shutdown(1_000);
});

Deno.test("an error that escapes the application becomes an empty 500", async () => {
  const server = listen(LOOPBACK, () => Promise.reject(new Error("secret")));
  const response = await fetch(server.url);
  assertEquals([response.status, await response.text()], [500, ""]);
  await server.shutdown(1_000);
});

Deno.test("a request in flight is answered before the server stops", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = listen(LOOPBACK, async (request) => {
    arrived.resolve();
    return new Response(await request.text());
  });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const answer = fetch(server.url, { method: "POST", body: readable })
    .then((response) => response.text());
  await writer.write(new TextEncoder().encode("first, "));
  await arrived.promise;
  const stopped = server.shutdown(60_000);
  await writer.write(new TextEncoder().encode("last"));
  await writer.close();
  assertEquals(await answer, "first, last");
  assertEquals(await stopped, true);
  await server.finished;
});

Deno.test("a request that is never answered is aborted after the grace period", async () => {
  const arrived = Promise.withResolvers<void>();
  const never = Promise.withResolvers<Response>();
  const server = listen(LOOPBACK, () => {
    arrived.resolve();
    return never.promise;
  });
  const answer = fetch(server.url).then(() => "answered", () => "cut off");
  await arrived.promise;
  assertEquals(await server.shutdown(10), false);
  assertEquals(await answer, "cut off");
  await server.finished;
  never.resolve(new Response());
});

Deno.test({
  name: "a missing permission and a port in use have different errors",
  permissions: { net: false },
  fn() {
    const { context } = assertSigError(
      () => listen({ hostname: "127.0.0.1", port: 8080 }, ok),
      "invalid_request",
      "Cannot listen on 127.0.0.1:8080: the program was not given permission to",
    );
    assertEquals(context.hint, "Run it with --allow-net=127.0.0.1:8080.");
  },
});

Deno.test("during shutdown accepted requests are answered and new ones rejected", async () => {
  const gate = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const server = listen(LOOPBACK, async () => {
    taken.resolve();
    await gate.promise;
    return new Response("late");
  });
  using late = await RawClient.connect(Number(new URL(server.url).port));
  const first = fetch(server.url);
  await taken.promise;
  const stopped = server.shutdown(60_000);
  await late.send(head("GET / HTTP/1.1"));
  const { status, headers, body } = await late.receive();
  assertEquals(
    [status, headers.get("retry-after"), headers.get("connection")],
    [503, "1", "close"],
  );
  const { code, detail } = JSON.parse(body);
  assertEquals([code, detail], [
    "overloaded",
    "Cannot answer: this server is being stopped",
  ]);
  gate.resolve();
  assertEquals(await (await first).text(), "late");
  await stopped;
});

Deno.test("a client that still sends a body after its answer does not delay the end", async () => {
  const server = listen(LOOPBACK, ok);
  using client = await RawClient.connect(Number(new URL(server.url).port));
  await client.send(head("POST / HTTP/1.1", ["Content-Length: 1000000"]));
  assertEquals((await client.receive()).body, "ok");
  assertEquals(await server.shutdown(100), true);
});
