// The permissions that a server needs.
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { runToEnd, ServerProcess, SERVERS } from "../kit/server_process.ts";

for (const name of SERVERS) {
  Deno.test(`${name}: help and version need no permission`, async () => {
    const none = { permissions: [] };
    const help = await runToEnd(name, ["--help"], none);
    assertEquals([help.code, help.stderr], [0, ""]);
    assertStringIncludes(help.stdout, "  --trust-proxy ");
    const version = await runToEnd(name, ["--version"], none);
    assertEquals([version.code, version.stderr], [0, ""]);
    assertMatch(version.stdout, /^sig-(api|web) \d+\.\d+\.\d+\n$/);
  });

  Deno.test(`${name}: a server needs no permission except for the network of loopback`, async () => {
    for (
      const args of [
        ...[[], ["--public", "--trust-proxy", "10.0.0.0/8"]],
        ...[["--issuer", "acme.example", "--allow-insecure"]],
        ...(name === "web" ? [["--demo"]] : []),
      ]
    ) {
      await using server = await ServerProcess.start(name, args);
      for (const path of ["/healthz", "/", "/docs", "/openapi.json"]) {
        const response = await fetch(`${server.url}${path}`);
        await response.body?.cancel();
        assert(response.status < 500, `${path}: ${response.status}`);
      }
      const { code, stderr } = await server.stop();
      assertEquals(code, 0);
      assert(!/NotCapable|"level":"error"/.test(stderr), stderr);
    }
  });
}
