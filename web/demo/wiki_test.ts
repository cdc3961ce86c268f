import { assertEquals } from "@std/assert";
import { RawClient } from "../../tests/kit/raw_client.ts";
import { createGateProxy } from "./wiki.ts";

const SUBJECT = "did:web:a.example";

/** A login that answers as it is told, and the proxy of an application. */
function start() {
  const login = { status: 200 };
  const servers = [
    Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () =>
        new Response(null, {
          status: login.status,
          headers: { "remote-user": SUBJECT },
        }),
    ),
    Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => proxy.fetch(request),
    ),
  ] as const;
  const [loginPort, port] = servers.map(({ addr }) => addr.port) as [
    number,
    number,
  ];
  const proxy = createGateProxy({
    login: `http://127.0.0.1:${loginPort}`,
    origin: `http://127.0.0.1:${port}`,
    app: { fetch: () => new Response("read") },
  });
  return {
    login,
    port,
    proxy,
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.shutdown();
    },
  };
}

Deno.test("an application that is only read refuses TRACE like any other method", async () => {
  await using started = start();
  for (const method of ["TRACE", "POST"]) {
    using client = await RawClient.connect(started.port);
    const host = `127.0.0.1:${started.port}`;
    await client.send(
      `${method} / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
    );
    const { status, headers } = await client.receive();
    assertEquals([status, headers.get("allow")], [405, "GET, HEAD"], method);
  }
});

Deno.test("while the login does not answer the application is open to nobody, and afterwards again", async () => {
  await using started = start();
  const { login, port, proxy } = started;
  const page = await fetch(`http://127.0.0.1:${port}/`);
  assertEquals(await page.text(), "read");
  assertEquals(await proxy.isOpenTo(SUBJECT), true);
  login.status = 503;
  assertEquals(await proxy.isOpenTo(SUBJECT), false);
  login.status = 200;
  assertEquals(await proxy.isOpenTo(SUBJECT), true);
});
