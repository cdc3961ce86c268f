// Logs of real processes that nobody reads.
import { assert, assertEquals } from "@std/assert";
import { head, RawClient } from "../kit/raw_client.ts";
import {
  assertUntouched,
  logEntries,
  ServerProcess,
} from "../kit/server_process.ts";

Deno.test("api: an unread log does not block requests, and a late reader sees how many lines were dropped", async () => {
  await using server = await ServerProcess.start("api", [], { unread: true });
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
  const logged = entries.filter(({ status }) => status === 404).length;
  let dropped = 0;
  for (const { dropped_lines } of entries) {
    dropped += Number(dropped_lines ?? 0);
  }
  // The dropped lines may include health checks of this test.
  assert(
    dropped > 0 && logged + dropped >= requests,
    `${logged} + ${dropped}`,
  );
});

Deno.test("web: an unread log does not block the end of the process", async () => {
  await using server = await ServerProcess.start("web", [], { unread: true });
  await fillLog(server);
  server.signal("SIGTERM");
  assertEquals(await server.exited(), 0);
});

/**
 * Sends enough requests to fill the pipe and the log's buffer. Returns their
 * number.
 */
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
