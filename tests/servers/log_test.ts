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

  Deno.test(`${name}: a log in words, and none at all`, async () => {
    for (const [format, expected] of [["text", 2], ["off", 1]] as const) {
      await using server = await ServerProcess.start(name, ["--log", format]);
      await assertUntouched(server);
      const { stderr } = await server.stop();
      const lines = stderr.trimEnd().split("\n");
      assertEquals(lines.length, expected, stderr);
      if (format === "text") {
        const [, method, path, status] = lines[1]!.split(" ");
        assertEquals([method, path, status], ["GET", "/healthz", "200"]);
      }
    }
  });

  Deno.test(`${name}: a log that nobody reads holds up no request and no end`, async () => {
    await using server = await ServerProcess.start(name, [], { unread: true });
    using client = await RawClient.connect(server.port);
    // More than a pipe and what may wait hold together.
    const lost = head(`GET /${"x".repeat(300)} HTTP/1.1`);
    for (let i = 0; i < 80; i++) {
      assert(await client.send(lost.repeat(50)));
      for (let k = 0; k < 50; k++) {
        assertEquals((await client.receive()).status, 404);
      }
    }
    await assertUntouched(server);
    server.signal("SIGTERM");
    assertEquals(await server.exited(), 0);
  });

  Deno.test(`${name}: a slow reader of the log learns how many lines were dropped`, async () => {
    await using server = await ServerProcess.start(name, [], { unread: true });
    using client = await RawClient.connect(server.port);
    const lost = head(`GET /${"x".repeat(300)} HTTP/1.1`);
    const requests = 80 * 50;
    for (let i = 0; i < 80; i++) {
      await client.send(lost.repeat(50));
      for (let k = 0; k < 50; k++) await client.receive();
    }
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
}
