import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { tempFolder } from "../../tests/kit/process.ts";
import { start } from "../testdata/process.ts";

/**
 * Starts a server, passes its first line to `work`, and stops it by SIGTERM.
 */
async function withServer(
  args: readonly string[],
  work: (first: string) => Promise<void>,
): Promise<{ readonly code: number; readonly stderr: string }> {
  await using folder = await tempFolder();
  await using child = start(args, { cwd: folder.path });
  await work((await child.said(/^(?:http:.*|\{[^}]*\})\n/m))[0]);
  return await child.stop();
}

for (const name of ["api", "web"]) {
  Deno.test(`sig ${name} starts the server of its package, and SIGTERM stops it with exit code 0`, async () => {
    const args = [name, "--addr", "127.0.0.1:0", "--log", "off"];
    const { code, stderr } = await withServer(args, async (first) => {
      const response = await fetch(`${first.trim()}/healthz`);
      assertEquals((await response.json()).service, `sig-${name}`);
    });
    assertEquals(code, 0);
    assertStringIncludes(stderr, "Stop it with Ctrl-C.");
  });
}

Deno.test("sig api --format json prints its address as JSON", async () => {
  const args = ["api", "--addr", "127.0.0.1:0", "--format", "json"];
  const { code, stderr } = await withServer(args, async (first) => {
    const { url } = JSON.parse(first);
    const response = await fetch(`${url}/healthz`);
    assertEquals(response.status, 200);
    await response.body?.cancel();
  });
  assertEquals(code, 0);
  // The log is JSON lines if stderr is a pipe.
  const log = stderr.trim().split("\n").map((line) => JSON.parse(line));
  assert(log.some(({ path }) => path === "/healthz"), stderr);
});
