// Starting a server, or failing with one line that says why.
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import {
  LEAST,
  runToEnd,
  ServerProcess,
  SERVERS,
} from "../kit/server_process.ts";

/**
 * Returns the first line and the hint of a failed start. Anything else fails.
 */
async function refusal(
  name: "api" | "web",
  args: readonly string[],
  permissions: readonly string[] = LEAST,
): Promise<readonly [string, string | undefined]> {
  const { code, stdout, stderr } = await runToEnd(name, args, { permissions });
  assertEquals([code, stdout], [2, ""], stderr);
  const [first = "", hint, ...rest] = stderr.trimEnd().split("\n");
  assertEquals(rest, [], "more than a line and a hint");
  assert(first.startsWith(`sig-${name}: `), first);
  assert(!/\.[jt]s:\d+/.test(stderr), "a stack");
  return [
    first.slice(`sig-${name}: `.length),
    hint?.replace(/^ {2}hint: /, ""),
  ];
}

for (const name of SERVERS) {
  const onlyHere = name === "api" ? [] : ["--demo"];
  /** One case of each kind; `api/program` and `web` test the others. */
  const refused: readonly (readonly [
    args: readonly string[],
    line: RegExp,
    hint: RegExp,
  ])[] = [
    [["--addr", "0.0.0.0:0"], /.*(--token-file|--audience)/, /./],
    [
      ["--trust-proxy", "127.0.0.1/32", ...onlyHere],
      name === "api"
        ? /a server that others can reach needs --token-file, or --public$/
        : /--demo is for servers that only this machine can reach$/,
      /^--trust-proxy "127\.0\.0\.1\/32" says that /,
    ],
    [
      ["--isuer", "a.example"],
      /there is no flag "--isuer"$/,
      /^Did you mean --issuer\?$/,
    ],
  ];

  Deno.test(`${name}: refuses invalid arguments with one line and a hint`, async () => {
    for (const [args, line, expected] of refused) {
      const address = args.includes("--addr") ? [] : ["--addr", "127.0.0.1:0"];
      const [found, hint] = await refusal(name, [...address, ...args]);
      assertStringIncludes(found, "invalid_request: Cannot run: ");
      assertMatch(found.slice("invalid_request: Cannot run: ".length), line);
      assertMatch(hint ?? "", expected);
    }
  });

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
