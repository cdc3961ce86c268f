import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { SigError } from "@sig/core";
import {
  runServer,
  type ServerIo,
  type ServerProgram,
  type Startup,
} from "./run_server.ts";
import type { Respond } from "./listen.ts";
import { createProcessIo } from "./io.ts";
import { createService, toApp } from "../http/service.ts";

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The recorded steps, in their order. */
  readonly steps: readonly string[];
}

interface Setting {
  /** Replaced members of the startup. */
  readonly startup?: Partial<Startup>;
  readonly start?: () => Promise<Startup>;
  /** Called with the server's URL while it runs. */
  readonly during?: (respond: Respond) => Promise<void>;
  readonly serve?: ServerIo["serve"];
  readonly columns?: number;
  /** Whether all requests are answered at the end (default: true). */
  readonly isDrained?: boolean;
}

/** Runs a server with a fake environment only. */
async function run(
  args: readonly string[],
  setting: Setting = {},
): Promise<Run> {
  let stdout = "";
  let stderr = "";
  const steps: string[] = [];
  const stop = Promise.withResolvers<void>();
  let respond: Respond | undefined;
  const startup: Startup = {
    address: { hostname: "127.0.0.1", port: 0 },
    log: "json",
    createApp(url, log) {
      steps.push(`createApp ${url}`);
      const app = createService({
        ...{ service: "sig-web", version: "0.1.0" },
        ...{ log, now: () => new Date(0) },
      });
      app.get("/", (c) => c.json({}));
      return toApp(app);
    },
    notes: (url) => [`Open ${url}/.`],
    close() {
      steps.push("close");
      return Promise.resolve();
    },
    ...setting.startup,
  };
  const program: ServerProgram = {
    name: "sig-test",
    version: "1.2.3",
    summary: "is tested",
    flags: [{ name: "addr", value: "HOST:PORT", help: "where" }],
    examples: ["sig-test --addr [::1]:1"],
    start: setting.start ?? (() => Promise.resolve(startup)),
  };
  const io: ServerIo = {
    ...createProcessIo(),
    stdout(text) {
      stdout += text;
      // It listens and has announced its address.
      const during = setting.during?.(respond!) ?? Promise.resolve();
      during.then(() => stop.resolve(), stop.reject);
    },
    stderr: (text) => void (stderr += text),
    columns: () => setting.columns,
    now: () => new Date(0),
    variables: () => ({ values: {}, looked: "all" }),
    readFile: () => Promise.reject(new Error("no disk")),
    serve: setting.serve ?? ((_address, given) => {
      steps.push("serve");
      respond = given;
      return Promise.resolve({
        url: "http://127.0.0.1:1",
        finished: new Promise(() => {}),
        shutdown(graceMs) {
          steps.push(`shutdown ${graceMs}`);
          return Promise.resolve(setting.isDrained ?? true);
        },
      });
    }),
    stopRequested() {
      steps.push("stopRequested");
      return stop.promise;
    },
  };
  const code = await runServer(program, args, io);
  return { code, stdout, stderr, steps };
}

const INFO = { remoteAddr: { hostname: "192.0.2.1" } };

Deno.test("the address is the first line, printed when requests are answered", async () => {
  const { code, stdout, stderr, steps } = await run([], {
    async during(respond) {
      const request = new Request("http://127.0.0.1:1/");
      assertEquals((await respond(request, INFO)).status, 200);
    },
  });
  assertEquals([code, stdout], [0, "http://127.0.0.1:1\n"]);
  const [note, entry, rest] = stderr.split("\n");
  assertEquals([JSON.parse(note!), rest], [{
    time: "1970-01-01T00:00:00.000Z",
    level: "info",
    message: "Open http://127.0.0.1:1/.",
  }, ""]);
  assertEquals(JSON.parse(entry!).client, "192.0.2.1");
  assertEquals(steps, [
    // Before the address is announced or descriptors run out.
    "stopRequested",
    "serve",
    "createApp http://127.0.0.1:1",
    "shutdown 10000",
    "close",
  ]);
});

Deno.test("a request that arrives before the application exists waits for it", async () => {
  let early: Promise<Response> | undefined;
  const made = Promise.withResolvers<void>();
  const { code } = await run([], {
    startup: {
      log: "off",
      async createApp() {
        await made.promise;
        return { fetch: () => Promise.resolve(new Response("made")) };
      },
    },
    serve(_address, respond) {
      early = respond(new Request("http://127.0.0.1:1/"), INFO);
      made.resolve();
      return Promise.resolve({
        url: "http://127.0.0.1:1",
        finished: new Promise(() => {}),
        shutdown: () => Promise.resolve(true),
      });
    },
  });
  assertEquals(code, 0);
  assertEquals(await (await early!).text(), "made");
});

Deno.test("an application that can't be created ends the process and closes everything", async () => {
  const why = 'Cannot start: "\u001b[2J" is bad';
  const context = { hint: "Use a DID." };
  const bad = new SigError("invalid_identifier", { reason: why, context });
  const { code, stdout, stderr, steps } = await run([], {
    startup: {
      createApp: () => Promise.reject(bad),
    },
  });
  assertEquals([code, stdout], [2, ""]);
  assertEquals(
    stderr,
    'sig-test: invalid_identifier: Cannot start: "\\u001b[2J" is bad\n  hint: Use a DID.\n',
  );
  assertEquals(steps, ["stopRequested", "serve", "shutdown 10000", "close"]);
});

Deno.test("resources are closed if it can't listen", async () => {
  const { code, stderr, steps } = await run([], {
    serve: () =>
      Promise.reject(
        new SigError("invalid_request", {
          action: "listen on x",
          reason: "no",
        }),
      ),
  });
  assertEquals(code, 2);
  assertEquals(stderr, "sig-test: invalid_request: Cannot listen on x: no\n");
  assertEquals(steps, ["stopRequested", "close"]);
});

Deno.test("a server that stops unexpectedly ends the process", async () => {
  const { code } = await run([], {
    during: () => new Promise(() => {}),
    serve: () =>
      Promise.resolve({
        url: "http://127.0.0.1:1",
        finished: Promise.resolve(),
        shutdown: () => Promise.resolve(true),
      }),
  });
  assertEquals(code, 0);
});

Deno.test("a server that had to abort requests ends with 130, any other with 0", async () => {
  assertEquals((await run([], { isDrained: false })).code, 130);
  assertEquals((await run([])).code, 0);
});

Deno.test("an error at the start names the place and the next step, without a stack", async () => {
  const missing = 'Module not found "file:///dist/chunk-1.js".';
  const rows = [
    [
      new TypeError("not a\u0007 function"),
      "internal: Cannot go on: an internal error occurred\n  TypeError: not a\\u0007 function",
    ],
    [
      undefined,
      "internal: Cannot go on: an internal error occurred\n  an error without a name",
    ],
    [
      Object.assign(new TypeError(`${missing}\n  at chunk-2.js`), {
        code: "ERR_MODULE_NOT_FOUND",
      }),
      `not_found: Cannot load the program: a file of it is missing: ${missing}\n  hint: Restore the checkout, and run deno task install again.`,
    ],
    [
      new Deno.errors.NotCapable(
        'Requires net access to "::1", run again with the --allow-net flag',
      ),
      'invalid_request: Cannot run: the program lacks a permission: Requires net access to "::1"\n  hint: Run it with --allow-net.',
    ],
    [
      new SigError("insecure_url", {
        action: "ask",
        reason: "it is http",
        context: { hint: "Or set allowPrivate." },
      }),
      "insecure_url: Cannot ask: it is http\n  hint: Or use --allow-insecure.",
    ],
  ] as const;
  for (const [thrown, words] of rows) {
    const start = () => Promise.reject(thrown);
    const { code, stderr } = await run([], { start });
    assertEquals([code, stderr], [2, `sig-test: ${words}\n`]);
  }
});

Deno.test("--help and --version print without starting anything", async () => {
  const start = () => Promise.reject(new Error("started"));
  const help = await run(["--help"], { start });
  assertEquals([help.code, help.stderr], [0, ""]);
  assertMatch(
    help.stdout,
    /^sig-test: is tested\n\nUsage: sig-test \[flags\]\n/,
  );
  for (const word of ["--addr HOST:PORT", "--help", "--version", "[::1]:1"]) {
    assertStringIncludes(help.stdout, word);
  }
  assertEquals((await run(["-h"], { start })).stdout, help.stdout);
  for (const word of ["--version", "-V"]) {
    const version = await run([word], { start });
    assertEquals([version.code, version.stdout], [0, "sig-test 1.2.3\n"]);
  }
});

Deno.test("help is wrapped to the width of the terminal", async () => {
  assertEquals((await run(["--help"], { columns: 30 })).stdout.split("\n"), [
    "sig-test: is tested",
    "",
    "Usage: sig-test [flags]",
    "",
    "Flags:",
    "  --addr HOST:PORT",
    "             where",
    "  --help     show this help",
    "  --version  show the version",
    "",
    "Examples:",
    "  sig-test --addr [::1]:1",
    "",
  ]);
});

Deno.test("invalid arguments end the process with a hint", async () => {
  const see = "hint: See: sig-test --help";
  const rows = [
    ["--adr", 'there is no flag "--adr"\n  hint: Did you mean --addr?'],
    ["--xyzzy", `there is no flag "--xyzzy"\n  ${see}`],
    ["127.0.0.1:1", `unexpected argument: "127.0.0.1:1"\n  ${see}`],
  ] as const;
  for (const [word, stderr] of rows) {
    const { code, ...said } = await run([word]);
    assertEquals([code, said.stdout], [2, ""]);
    assertEquals(
      said.stderr,
      `sig-test: invalid_request: Cannot run: ${stderr}\n`,
    );
  }
});

Deno.test("notes and warnings are in the log's format", async () => {
  const warnings = ["mind \u001b[2J this"];
  for (const log of ["text", "off"] as const) {
    const { stderr } = await run([], { startup: { log, warnings } });
    assertEquals(
      stderr,
      "warning: mind \\u001b[2J this\nOpen http://127.0.0.1:1/.\n",
    );
  }
  const { stderr } = await run([], { startup: { log: "json", warnings } });
  const lines = stderr.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.map(({ level, message }) => [level, message]), [
    ["warning", warnings[0]],
    ["info", "Open http://127.0.0.1:1/."],
  ]);
});
