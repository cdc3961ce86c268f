// Bodies that never end, with real processes.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { askWhile, head, RawClient, rawPost } from "../kit/raw_client.ts";
import {
  assertUntouched,
  logEntries,
  QUESTIONS,
  ServerProcess,
} from "../kit/server_process.ts";
import { repeatedly } from "../kit/wait.ts";

/** The head of a request that announces a body without sending it. */
function unfinished(path: string, length: number): string {
  return head(`POST ${path} HTTP/1.1`, [
    "Content-Type: application/json",
    `Content-Length: ${length}`,
  ]);
}

Deno.test("api: places of disconnected clients are free again", async () => {
  const { path, body } = QUESTIONS.api;
  await using server = await ServerProcess.start("api", [
    "--max-concurrent",
    "4",
  ]);
  for (let i = 0; i < 20; i++) {
    using client = await RawClient.connect(server.port);
    await client.send(unfinished(path, body.length) + body.slice(0, 3));
  }
  const answer = await askWhile(server.port, rawPost(path, body), 503);
  assertEquals(answer.status, 200);
  const { stderr } = await server.stop();
  const levels = new Set(logEntries(stderr).map(({ level }) => level));
  assertEquals([...levels], ["info"]);
});

Deno.test("web: a body that never arrives, or drips, times out", async () => {
  const { path } = QUESTIONS.web;
  await using server = await ServerProcess.start("web", ["--log", "off"]);
  using silent = await RawClient.connect(server.port);
  await silent.send(unfinished(path, 50));
  using large = await RawClient.connect(server.port);
  await large.send(unfinished(path, 60_000) + "{");
  using chunked = await RawClient.connect(server.port);
  await chunked.send(
    head(`POST ${path} HTTP/1.1`, [
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ]) + "1\r\n{\r\n",
  );
  using dripping = await RawClient.connect(server.port);
  await dripping.send(unfinished(path, 1000) + "{");
  using _drip = repeatedly(300, () => dripping.send(" "));
  const clients = [silent, large, chunked, dripping];
  for (const answer of await Promise.all(clients.map((c) => c.receive()))) {
    assertEquals(answer.status, 408);
    assertEquals(JSON.parse(answer.body).code, "request_timeout");
    // The server does not wait for the rest.
    assertMatch(answer.headers.get("connection")!, /^close(, close)?$/);
  }
  await assertUntouched(server);
});

Deno.test({
  name:
    "api: bodies that timed out use no memory, even if the client sends more",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using server = await ServerProcess.start("api", ["--log", "off"]);
    const before = await residentBytes(server.pid);
    const clients = await Promise.all(
      Array.from({ length: 48 }, () => RawClient.connect(server.port)),
    );
    try {
      for (const client of clients) {
        await client.send(unfinished(QUESTIONS.api.path, 4 * 1024 * 1024));
      }
      for (const client of clients) {
        assertEquals((await client.receive()).status, 408);
      }
      // All of the announced bytes except the last.
      const mebibyte = new Uint8Array(1024 * 1024).fill(0x20);
      for (const client of clients) {
        for (let i = 0; i < 3; i++) await client.send(mebibyte);
      }
      const grown = await residentBytes(server.pid) - before;
      assert(grown < 64 * 1024 * 1024, `${grown} bytes more than before`);
      await assertUntouched(server);
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
  },
});

async function residentBytes(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)![1]) * 1024;
}
