// From words to a server that listens, or to one line that says why not.
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { exchangeRaw, head } from "../kit/raw_client.ts";
import {
  assertUntouched,
  LEAST,
  runToEnd,
  ServerProcess,
  SERVERS,
} from "../kit/server_process.ts";

/** What a process of its own port needs to be reachable by others. */
const PUBLIC = {
  api: ["--public"],
  web: ["--public", "--audience", "https://login.acme.example"],
};

/** Code, first line and hint of a start that failed; anything else fails. */
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
  assert(!/\.ts:\d+/.test(stderr), "a stack");
  return [
    first.slice(`sig-${name}: `.length),
    hint?.replace(/^ {2}hint: /, ""),
  ];
}

for (const name of SERVERS) {
  const onlyHere = name === "api" ? [] : ["--demo"];
  /** One of each kind; the others are in `api/flags` and `web`. */
  const refused: readonly (readonly [
    args: readonly string[],
    line: RegExp,
    hint: string | RegExp | undefined,
  ])[] = [
    [["--addr", "127.1:80"], /--addr "127\.1:80" must be host:port$/, /./],
    [["--addr", "0.0.0.0:0"], /.*(--token-file|--audience)/, /./],
    [
      ["--addr", "[::ffff:127.0.0.1]:0", "--allow-insecure", ...PUBLIC[name]],
      /--allow-insecure is for servers that only this machine can reach$/,
      /^Use --addr 127\.0\.0\.1:PORT\.$/,
    ],
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
      "Did you mean --issuer?",
    ],
    [["--log", "off", "--log", "off"], /--log is given twice$/, undefined],
  ];

  Deno.test(`${name}: what can't be meant is refused in a line with a hint`, async () => {
    for (const [args, line, expected] of refused) {
      const address = args.includes("--addr") ? [] : ["--addr", "127.0.0.1:0"];
      const [found, hint] = await refusal(name, [...address, ...args]);
      assertStringIncludes(found, "invalid_request: Cannot run: ");
      assertMatch(found.slice("invalid_request: Cannot run: ".length), line);
      if (expected instanceof RegExp) assertMatch(hint ?? "", expected);
      else assertEquals(hint, expected);
    }
    const proxy = ["--public", "--trust-proxy", "all"];
    assertEquals(await refusal(name, ["--addr", "127.0.0.1:0", ...proxy]), [
      'invalid_request: Cannot trust proxy "all": it must be a network',
      "For example: 10.0.0.0/8.",
    ]);
  });

  Deno.test(`${name}: help and version need no permission`, async () => {
    const none = { permissions: [] };
    const help = await runToEnd(name, ["--help"], none);
    assertEquals([help.code, help.stderr], [0, ""]);
    for (
      const flag of ["--addr", "--log", "--trust-proxy", "--help", "--version"]
    ) {
      assertStringIncludes(help.stdout, `  ${flag} `);
    }
    const version = await runToEnd(name, ["--version"], none);
    assertEquals([version.code, version.stderr], [0, ""]);
    assertMatch(version.stdout, /^sig-(api|web) \d+\.\d+\.\d+\n$/);
  });

  Deno.test(`${name}: a port in use, and a permission that is missing`, async () => {
    await using server = await ServerProcess.start(name);
    const address = `127.0.0.1:${server.port}`;
    const expected = `invalid_request: Cannot listen on ${address}:`;
    assertEquals(
      (await refusal(name, ["--addr", address]))[0],
      `${expected} another program listens there`,
    );
    assertEquals(
      (await refusal(name, ["--addr", address], []))[0],
      `${expected} the program was not given permission to`,
    );
    await assertUntouched(server);
  });

  Deno.test(`${name}: the network of loopback is all that a server needs`, async () => {
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

  Deno.test(`${name}: a name that a proxy gives is answered with --host`, async () => {
    const proxied = "sig.acme.example";
    await using server = await ServerProcess.start(name, [
      ...["--public", "--host", proxied],
    ]);
    for (
      const [host, status] of [
        [proxied, 200],
        [`${proxied}:8443`, 200],
        ["localhost", 200],
        ["127.0.0.1:1", 200],
        ["[::1]", 200],
        ["acme.example", 421],
      ] as const
    ) {
      const data = head("GET /healthz HTTP/1.1", [], `Host: ${host}`);
      assertEquals((await exchangeRaw(server.port, data)).status, status, host);
    }
  });
}

Deno.test("api: a token file that can't be read is one line", async () => {
  const args = ["--addr", "127.0.0.1:0", "--token-file", "/no/such/file"];
  for (const permissions of [LEAST, [...LEAST, "--allow-read"]]) {
    assertEquals(
      (await refusal("api", args, permissions))[0].split(":")[0],
      "source_not_found",
    );
  }
});

Deno.test("web: a scope that no request could ask for is refused", async () => {
  const [line, hint] = await refusal("web", ["--scope", 'a"b']);
  assertMatch(line, /^invalid_request: Cannot run: --scope /);
  assertEquals(hint, "Name each one by itself: --scope profile.");
});
