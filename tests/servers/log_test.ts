// What the servers' logs say, and don't.
import { assert, assertEquals } from "@std/assert";
import { exchangeRaw, head, RawClient, rawPost } from "../kit/raw_client.ts";
import {
  assertUntouched,
  logEntries,
  QUESTIONS,
  ServerProcess,
  SERVERS,
} from "../kit/server_process.ts";

for (const name of SERVERS) {
  Deno.test(`${name}: a line a request, with neither query, token nor body`, async () => {
    await using server = await ServerProcess.start(name);
    const { path, body } = QUESTIONS[name];
    const secrets = [
      "Authorization: Bearer hidden-token",
      "Cookie: hidden-cookie",
    ];
    await exchangeRaw(
      server.port,
      rawPost(`${path}?key=hidden-query`, body, secrets),
    );
    await exchangeRaw(server.port, rawPost(path, '{"hidden-body":1', secrets));
    await exchangeRaw(
      server.port,
      head("GET /%1b[2J%0a{} HTTP/1.1", ['X-Request-ID: "},{"a":"b']),
    );
    const { code, stderr } = await server.stop();
    assertEquals(code, 0);
    assert(!stderr.includes("hidden"), stderr);
    const entries = logEntries(stderr);
    assertEquals(
      entries.map((
        { method, path, status, code },
      ) => [method, path, status, code]),
      [
        ["POST", path, 200, undefined],
        ["POST", path, 400, "invalid_json"],
        ["GET", "/%1b[2J%0a{}", 404, "not_found"],
      ],
    );
    const [first, , last] = entries;
    assertEquals(
      [first!.service, first!.client, first!.level],
      [`sig-${name}`, "127.0.0.1", "info"],
    );
    assertEquals(last!.request_id, '"},{"a":"b');
  });

  Deno.test(`${name}: a log that nobody reads holds up no request; a late reader learns how many lines were dropped`, async () => {
    await using server = await ServerProcess.start(name, [], { unread: true });
    const requests = await fillLog(server);
    await assertUntouched(server);
    server.readStderr();
    for (
      let i = 0;
      i < 2_000 && !server.stderr.includes("dropped_lines");
      i++
    ) {
      await assertUntouched(server);
    }
    const { code, stderr } = await server.stop();
    assertEquals(code, 0);
    const entries = logEntries(stderr);
    const told = entries.filter(({ status }) => status === 404).length;
    let dropped = 0;
    for (const { dropped_lines } of entries) {
      dropped += Number(dropped_lines ?? 0);
    }
    // Health checks of this test may be among the dropped ones.
    assert(dropped > 0 && told + dropped >= requests, `${told} + ${dropped}`);
  });

  Deno.test(`${name}: a log that nobody reads holds up no end`, async () => {
    await using server = await ServerProcess.start(name, [], { unread: true });
    await fillLog(server);
    server.signal("SIGTERM");
    assertEquals(await server.exited(), 0);
  });
}

/** Sends as many requests as fill a pipe and what may wait; their number. */
async function fillLog({ port }: ServerProcess): Promise<number> {
  using client = await RawClient.connect(port);
  const lost = head(`GET /${"x".repeat(300)} HTTP/1.1`);
  for (let i = 0; i < 80; i++) {
    assert(await client.send(lost.repeat(50)));
    for (let k = 0; k < 50; k++) {
      assertEquals((await client.receive()).status, 404);
    }
  }
  return 80 * 50;
}
