// From words to a server that listens, or to one line that says why not.
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { createServerIo, runServer } from "@sig/api/server";
import { apiProgram } from "@sig/api/program";
import { webProgram } from "@sig/web/program";
import { exchangeRaw, head } from "../kit/raw_client.ts";
import {
  assertUntouched,
  LEAST,
  runToEnd,
  ServerProcess,
  SERVERS,
} from "../kit/server_process.ts";
import { type Ran } from "../kit/process.ts";

/** What a process of its own port needs to be reachable by others. */
const PUBLIC = {
  api: ["--public"],
  web: ["--public", "--audience", "https://login.acme.example"],
};

const PROGRAMS = { api: apiProgram, web: webProgram };

/** Code, first line and hint of a start that failed; anything else fails. */
async function refusal(
  name: "api" | "web",
  args: readonly string[],
  permissions: readonly string[] = LEAST,
): Promise<readonly [string, string | undefined]> {
  return readRefusal(name, await runToEnd(name, args, { permissions }));
}

/**
 * The same words without a process. Where many are refused alike the first ones
 * are a process's, and the rest are judged here.
 */
async function refusalHere(
  name: "api" | "web",
  args: readonly string[],
): ReturnType<typeof refusal> {
  const ended = { code: NaN, stdout: "", stderr: "" };
  ended.code = await runServer(PROGRAMS[name], args, {
    ...createServerIo(),
    isTerminal: () => false,
    env: () => undefined,
    stdout: (text) => void (ended.stdout += text),
    stderr: (text) => void (ended.stderr += text),
    readFile: () => Promise.reject(new Error("no file is read")),
    serve: () => Promise.reject(new Error("it listens")),
    stopRequested: () => new Promise(() => {}),
  });
  return readRefusal(name, ended);
}

const refusalOf = (i: number) => i === 0 ? refusal : refusalHere;

function readRefusal(
  name: "api" | "web",
  { code, stdout, stderr }: Ran,
): readonly [string, string | undefined] {
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

const ADDRESSES = ["", "8787", ":8787", "127.0.0.1", "127.0.0.1:65536"];
const MORE_ADDRESSES = ["127.0.0.1:-1", "127.1:80", "::1:80", "[::1]", "0:80"];
const STRANGE_ADDRESSES = [
  "http://127.0.0.1:80",
  "a b:80",
  "127.0.0.1:\u001b[2J",
];

for (const name of SERVERS) {
  Deno.test(`${name}: an address that can't be meant is refused`, async () => {
    const all = [...ADDRESSES, ...MORE_ADDRESSES, ...STRANGE_ADDRESSES];
    await Promise.all(all.map(async (address, i) => {
      const [line] = await refusalOf(i)(name, ["--addr", address]);
      assertMatch(line, /^invalid_request: Cannot run: --addr /);
    }));
  });

  Deno.test(`${name}: a server that others can reach must be meant to be`, async () => {
    await Promise.all(
      [
        "0.0.0.0:0",
        "[::]:0",
        "192.0.2.1:0",
        "sig.acme.example:0",
        "[::ffff:127.0.0.1]:0",
      ]
        .map(async (address, i) => {
          const refused = refusalOf(i);
          const [line, hint] = await refused(name, ["--addr", address]);
          assertMatch(
            line,
            /^invalid_request: Cannot run: .*(--token-file|--audience)/,
          );
          assert(hint !== undefined, "no hint");
          const insecure = ["--addr", address, "--allow-insecure"];
          assertMatch(
            (await refused(name, [...insecure, ...PUBLIC[name]]))[0],
            /^invalid_request: Cannot run: --allow-insecure is for servers that/,
          );
        }),
    );
  });

  Deno.test(`${name}: what is reached through a proxy is not for this machine alone`, async () => {
    const exposed = [
      ["--trust-proxy", "127.0.0.1/32"],
      ["--host", "sig.acme.example"],
      name === "api"
        ? ["--public-url", "https://sig.acme.example"]
        : ["--audience", "https://login.acme.example"],
    ];
    const onlyHere = name === "api" ? [] : ["--demo"];
    await Promise.all(exposed.map(async ([flag = "", value = ""], i) => {
      const refused = refusalOf(i);
      const words = ["--addr", "127.0.0.1:0", flag, value];
      const [line, hint] = await refused(name, [...words, ...onlyHere]);
      assertEquals(
        line,
        name === "api"
          ? "invalid_request: Cannot run: a server that others can reach needs --token-file, or --public"
          : "invalid_request: Cannot run: --demo is for servers that only this machine can reach",
      );
      assertStringIncludes(hint ?? "", `${flag} "${value}" says that `);
      const insecure = await refused(name, [
        ...[...words, "--allow-insecure", "--public"],
      ]);
      assertEquals(insecure, [
        "invalid_request: Cannot run: --allow-insecure is for servers that only this machine can reach",
        `${flag} "${value}" says that others do.`,
      ]);
    }));
  });

  Deno.test(`${name}: words that can't be meant are refused with what is near`, async () => {
    const known = ["--addr", "127.0.0.1:0"];
    await Promise.all(
      ([
        [
          ["--isuer", "a.example"],
          'there is no flag "--isuer"',
          "Did you mean --issuer?",
        ],
        [["--xyzzy"], 'there is no flag "--xyzzy"', `See: sig-${name} --help`],
        [
          ["--log", "jsn"],
          "--log must be one of json, text, off",
          "Did you mean json?",
        ],
        [["--log", "off", "--log", "off"], "--log is given twice", undefined],
        [["now"], 'unexpected argument: "now"', `See: sig-${name} --help`],
        [
          ["--rate-limit", "0/s"],
          "--rate-limit must be a number of",
          "For example: 20/s.",
        ],
        [
          ["--max-concurrent", "0"],
          "--max-concurrent must be a number from 1",
          undefined,
        ],
      ] as const).map(async ([args, why, expected], i) => {
        const [line, hint] = await refusalOf(i)(name, [...known, ...args]);
        assertStringIncludes(line, `invalid_request: Cannot run: ${why}`);
        assertEquals(hint, expected);
      }),
    );
    const [line, hint] = await refusal(name, [
      ...known,
      "--public",
      "--trust-proxy",
      "all",
    ]);
    assertEquals(
      line,
      'invalid_request: Cannot trust proxy "all": it must be a network',
    );
    assertEquals(hint, "For example: 10.0.0.0/8.");
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
  for (const [i, scope] of ["a b", 'a"b'].entries()) {
    const [line, hint] = await refusalOf(i)("web", ["--scope", scope]);
    assertMatch(line, /^invalid_request: Cannot run: --scope /);
    assertEquals(hint, "Name each one by itself: --scope profile.");
  }
});
