import { assertEquals, assertMatch } from "@std/assert";
import { assertSigError } from "../../core/testdata/assert_sig_error.ts";
import { listen } from "./listen.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const ok = () => Promise.resolve(new Response("ok"));

Deno.test("an address that can't be had is refused", async () => {
  const server = listen(LOOPBACK, ok);
  const port = Number(new URL(server.url).port);
  for (
    const [hostname, wanted] of [
      ["127.0.0.1", port],
      ["192.0.2.1", 0],
      ["no-such-host.invalid", 0],
    ] as const
  ) {
    const { context } = assertSigError(
      () => listen({ hostname, port: wanted }, ok),
      "invalid_request",
      `Cannot listen on ${hostname}:${wanted}: it is in use or not allowed`,
    );
    assertEquals(context.flag, "--addr");
  }
  await server.shutdown(1_000);
  await server.finished;
});

Deno.test("an IPv6 address stands in brackets", async () => {
  const server = listen({ hostname: "::1", port: 0 }, ok);
  assertMatch(server.url, /^http:\/\/\[::1\]:\d+$/);
  assertEquals(await (await fetch(server.url)).text(), "ok");
  await server.shutdown(1_000);
});

Deno.test("what escapes the application is an empty 500", async () => {
  const server = listen(LOOPBACK, () => Promise.reject(new Error("secret")));
  const response = await fetch(server.url);
  assertEquals([response.status, await response.text()], [500, ""]);
  await server.shutdown(1_000);
});

Deno.test("a request in flight is answered before the server stops", async () => {
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const server = listen(LOOPBACK, async () => {
    arrived.resolve();
    await gate.promise;
    return new Response("late");
  });
  const answer = fetch(server.url).then((response) => response.text());
  await arrived.promise;
  const stopped = server.shutdown(60_000);
  gate.resolve();
  assertEquals(await answer, "late");
  await stopped;
});
