// Slow clients and issuers that don't respond, with real processes.
import { assertEquals } from "@std/assert";
import { type ClientHttp2Session, connect } from "node:http2";
import { serveLoopback } from "../kit/loopback.ts";
import { exchangeRaw, RawClient, rawPost } from "../kit/raw_client.ts";
import {
  assertUntouched,
  QUESTIONS,
  ServerProcess,
} from "../kit/server_process.ts";

// promise: Slow bodies, silent issuers and unread answers have limits, also per
//   client.

/** Maximum number of concurrent bodies of one client. */
const BODIES_EACH_CLIENT = 128;

/** A request of an HTTP/2 connection. */
interface Stream {
  readonly status: Promise<number>;
}

/** Opens an HTTP/2 connection, which Deno supports without TLS too. */
function openHttp2(url: string): ClientHttp2Session & Disposable {
  const session = connect(url);
  // The session is destroyed while requests are pending.
  session.on("error", () => {});
  return Object.assign(session, {
    [Symbol.dispose]: () => session.destroy(),
  });
}

/** Sends the first bytes of a body. */
function sendPart(
  session: ClientHttp2Session,
  path: string,
  body: string,
): Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/json",
    "content-length": String(body.length),
  });
  stream.on("error", () => {});
  stream.write(body.slice(0, 3));
  const status = new Promise<number>((resolve) => {
    stream.on("response", (headers) => resolve(Number(headers[":status"])));
  });
  return { status };
}

/** Resolves when `count` of the requests have a response. */
function answered(
  streams: readonly Stream[],
  count: number,
): Promise<readonly number[]> {
  const statuses: number[] = [];
  return new Promise((resolve) => {
    for (const { status } of streams) {
      status.then((each) => {
        statuses.push(each);
        if (statuses.length === count) resolve(statuses);
      });
    }
  });
}

Deno.test("web: slow bodies count per address, not per connection, and complete bodies are accepted", async () => {
  const { path, body } = QUESTIONS.web;
  // Behind a proxy, so that others can reach it.
  await using server = await ServerProcess.start("web", [
    ...["--log", "off", "--public", "--trust-proxy", "192.0.2.0/24"],
  ]);
  const data = rawPost(path, body);
  using slow = await RawClient.connect(server.port);
  await slow.send(data.slice(0, -1));
  await assertUntouched(server);
  using first = openHttp2(server.url);
  using second = openHttp2(server.url);
  using third = openHttp2(server.url);
  const streams = [first, second, third].flatMap((session) =>
    Array.from({ length: 200 }, () => sendPart(session, path, body))
  );
  const statuses = await answered(streams, 601 - BODIES_EACH_CLIENT);
  assertEquals(new Set(statuses), new Set([503]));
  const answer = await exchangeRaw(server.port, data);
  assertEquals(answer.status, 200, answer.body);
  await slow.send(data.slice(-1));
  assertEquals((await slow.receive()).status, 200);
  await assertUntouched(server);
});

Deno.test("api: questions about an issuer that does not respond don't block others", async () => {
  const held: Deno.Conn[] = [];
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepting = (async () => {
    for await (const connection of silent) held.push(connection);
  })();
  await using quick = serveLoopback(() => new Response(null, { status: 404 }));
  const silentHost = `127.0.0.1:${silent.addr.port}`;
  const about = (issuer: string) =>
    rawPost(
      "/v1/check",
      JSON.stringify({
        issuer,
        subject: "did:web:alice.example",
        require: [{ role: "deploy" }],
      }),
    );
  const clients: RawClient[] = [];
  try {
    await using server = await ServerProcess.start("api", [
      ...["--allow-insecure", "--log", "off", "--max-concurrent", "32"],
      ...["--issuer", silentHost, "--issuer", quick.host],
    ]);
    // On this machine one client gets all places of an issuer.
    for (let i = 0; i < 32; i++) {
      const client = await RawClient.connect(server.port);
      clients.push(client);
      await client.send(about(silentHost));
      // After this request, the server has read what was sent before.
      await assertUntouched(server);
    }
    const refused = await exchangeRaw(server.port, about(silentHost));
    assertEquals(
      [refused.status, JSON.parse(refused.body).detail],
      [
        503,
        "Cannot answer: too many requests wait for the same answer of others",
      ],
    );
    assertEquals(refused.headers.get("retry-after"), "1");
    // The other issuer responds with 404.
    const other = await exchangeRaw(server.port, about(quick.host));
    assertEquals(JSON.parse(other.body).code, "fetch_status");
    const { path, body } = QUESTIONS.api;
    const inline = await exchangeRaw(server.port, rawPost(path, body));
    assertEquals(inline.status, 200);
    await assertUntouched(server);
  } finally {
    for (const client of clients) client[Symbol.dispose]();
    silent.close();
    await accepting;
    for (const connection of held) connection.close();
  }
});
