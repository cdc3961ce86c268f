// Stopping under load: every request that was read gets a response.
import { assert, assertEquals } from "@std/assert";
import { askWhile, head, RawClient, rawPost } from "../kit/raw_client.ts";
import { QUESTIONS, ServerProcess } from "../kit/server_process.ts";

const WORKERS = 8;

/** Sends requests on new connections until the server refuses them. */
async function sendUntilDone(
  port: number,
  data: string,
  done: () => boolean,
  onAnswer: () => void,
) {
  let answered = 0;
  let broken = 0;
  while (!done()) {
    const client = await RawClient.connect(port).catch(() => undefined);
    if (client === undefined) break;
    using connection = client;
    while (!done()) {
      if (!await connection.send(data)) break;
      const { status, headers, body } = await connection.receive();
      if (status === 0) break;
      // 503: refused with a response after the signal.
      if (!isWhole(body, headers)) broken++;
      else if (status === 200) {
        answered++;
        onAnswer();
      } else if (status !== 503) broken++;
    }
  }
  return { answered, broken };
}

function isWhole(body: string, headers: Headers): boolean {
  JSON.parse(body);
  return body.length === Number(headers.get("content-length"));
}

for (const [name, signal] of [["api", "SIGTERM"], ["web", "SIGINT"]] as const) {
  Deno.test(`${name}: ${signal} and further signals under load interrupt no response`, async () => {
    await using server = await ServerProcess.start(name, ["--log", "off"]);
    const { path, body } = QUESTIONS[name];
    const data = rawPost(path, body);
    // The server has accepted this request (100), and responds when its last
    // byte arrives after the signal.
    using late = await RawClient.connect(server.port);
    await late.send(
      rawPost(path, body, ["Expect: 100-continue"]).slice(0, -1),
    );
    assertEquals((await late.receive()).status, 100);
    let stopped = false;
    const loaded = Promise.withResolvers<void>();
    let answers = 0;
    const workers = Array.from(
      { length: WORKERS },
      () =>
        sendUntilDone(server.port, data, () => stopped, () => {
          if (++answers > 10 * WORKERS) loaded.resolve();
        }),
    );
    // If all workers end early, the count below fails.
    await Promise.race([loaded.promise, Promise.all(workers)]);
    server.signal(signal);
    await untilDraining(server.port);
    server.signal("SIGINT");
    server.signal("SIGTERM");
    await late.send(data.slice(-1));
    const answer = await late.receive();
    assertEquals(answer.status, 200, answer.body);
    assert(isWhole(answer.body, answer.headers));
    const { code, stdout } = await server.ended();
    stopped = true;
    assertEquals([code, stdout], [0, ""]);
    let answered = 0;
    for (const result of await Promise.all(workers)) {
      assertEquals(result.broken, 0);
      answered += result.answered;
    }
    assert(answered > WORKERS, `${answered} answers`);
  });
}

Deno.test("api: idle connections don't delay the end", async () => {
  await using server = await ServerProcess.start("api", ["--log", "off"]);
  using idle = await RawClient.connect(server.port);
  await idle.send(head("GET /healthz HTTP/1.1"));
  assertEquals((await idle.receive()).status, 200);
  using silent = await RawClient.connect(server.port);
  const { code } = await server.stop();
  assertEquals(code, 0);
  assertEquals((await idle.receive()).status, 0);
  assertEquals((await silent.receive()).status, 0);
});

/**
 * Waits until the server refuses new requests, which means that it has received
 * the signal.
 */
async function untilDraining(port: number): Promise<void> {
  const answer = await askWhile(port, head("GET /healthz HTTP/1.1"), 200);
  assertEquals(answer.status, 503);
  assertEquals(JSON.parse(answer.body).code, "overloaded");
}
