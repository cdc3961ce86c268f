import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { denoArgs, sig, start } from "./testdata/process.ts";
import {
  assertRan,
  inWorkspace,
  testsWith,
  workspaceTest as test,
} from "./testdata/workspace.ts";
import { waitUntil } from "../tests/kit/wait.ts";
import { freePort, lacks, runWell, TestProcess } from "../tests/kit/process.ts";

const ROOT = new URL("..", import.meta.url).pathname;

/** Declares a test with an issuer of one employee in the current folder. */
const issuerTest = testsWith<string>(async (workspace, work) => {
  await workspace.ok("init acme.example --dir $D/acme.example");
  await workspace.ok(
    "upsert --dir $D/acme.example --type employee --subject did:web:alice.example --role deploy",
  );
  await work(workspace.dir);
});

issuerTest(
  "the process exits with 0 on allow, 1 on deny, 2 without an answer",
  async (cwd) => {
    const check =
      "check --sig ./acme.example --subject did:web:alice.example --require";
    for (const entry of ["main.ts", "mod.ts"]) {
      const options = { cwd, permissions: ["--allow-read"], entry };
      for (
        const [index, require] of ["role=deploy", "role=admin", "rule=admin"]
          .entries()
      ) assertEquals((await sig(`${check} ${require}`, options)).code, index);
    }
  },
);

test("an empty cache without network is an error, not an answer", async ({ dir: cwd }) => {
  const check = "check --sig a.example --subject x --require a=b --format";
  for (const entry of ["main.ts", "mod.ts"]) {
    const options = {
      ...{ cwd, entry, permissions: ["-A", "--cached-only"] },
      env: { DENO_DIR: `${cwd}/empty` },
    };
    assertRan(await sig(`${check} text`, options), {
      code: 2,
      err:
        "error: fetch_failed: Cannot load the program: a part of it is not in Deno's cache",
    });
    const json = await sig(`${check} json`, options);
    assertEquals([json.code, json.stdout], [2, ""]);
    assertEquals(JSON.parse(json.stderr).code, "fetch_failed");
    // The help needs no external package.
    assertRan(await sig("--help", options), { out: "Usage: sig" });
  }
});

issuerTest(
  "a missing permission is an error without a prompt or a stack",
  async (cwd) => {
    const append =
      "upsert --dir acme.example --type other --subject did:web:bob.example";
    for (
      const [words, ...permissions] of [
        ["verify ./acme.example"],
        ["verify acme.example", "--allow-read"],
        [append, "--allow-read"],
        [append, "--allow-read", "--allow-env"],
        [append],
        ["serve acme.example --addr 127.0.0.1:0", "--allow-read"],
        ["key generate --out k.jwk"],
        ["init b.example", "--allow-env"],
      ]
    ) {
      const ran = await sig(words!, { cwd, permissions });
      assertEquals([ran.code, ran.stdout], [2, ""], words);
      assertStringIncludes(ran.stderr, "error: ");
      assert(!/internal|\.[jt]s:|at async/.test(ran.stderr), ran.stderr);
    }
  },
);

test("an uncaught error exits with 2, not 1", async ({ dir: cwd }) => {
  const main = JSON.stringify(`file://${ROOT}cli/main.ts`);
  // real time: the tested error is thrown by a timer.
  const throwing = [
    "setTimeout(() => { throw new Error('secret'); });",
    "setTimeout(() => Promise.reject(new Error('secret')));",
  ];
  for (const [i, statement] of throwing.entries()) {
    const file = `${cwd}/throws${i}.ts`;
    await Deno.writeTextFile(
      file,
      `const { main } = await import(${main});\n${statement}\nawait main();\n`,
    );
    await using child = new TestProcess(Deno.execPath(), [
      ...["run", "--quiet", "-A", "--config", `${ROOT}deno.json`, file],
      ...["key", "did", "-"],
    ], { stdin: "open" });
    const { code, stderr } = await child.ended();
    assertEquals(code, 2);
    assertStringIncludes(stderr, "internal");
    assert(!stderr.includes("secret"));
  }
});

Deno.test("--version and --help load no cryptography and no network", async () => {
  const args = ["info", "--json", `${ROOT}cli/main.ts`];
  const { modules }: {
    readonly modules: readonly {
      readonly specifier: string;
      readonly dependencies?: readonly {
        readonly isDynamic?: boolean;
        readonly code?: { readonly specifier: string };
      }[];
    }[];
  } = JSON.parse(await runWell(Deno.execPath(), args, { cwd: ROOT }));
  const loadedBy = (file: string): string => {
    const loaded = new Set([`file://${ROOT}cli/${file}`]);
    for (const from of loaded) {
      const module = modules.find(({ specifier }) => specifier === from);
      for (const { code, isDynamic } of module?.dependencies ?? []) {
        if (code && !isDynamic) loaded.add(code.specifier);
      }
    }
    // Relative to the root, since its path may contain any name.
    return [...loaded].join("\n").replaceAll(`file://${ROOT}`, "/");
  };
  // --version loads `main.ts`; --help also loads `dispatch.ts`.
  assert(!/\/(jose|issuer|consumer)\/|npm:/.test(loadedBy("main.ts")));
  const help = loadedBy("dispatch.ts");
  assert(help.includes("/core/"));
  assert(!/\/(jose|issuer|consumer)\/|hono|npm:\/?jose/.test(help));
});

Deno.test({
  name: "Ctrl-C ends a waiting command with 130",
  // Only Linux shows when a process handles a signal; an earlier signal kills
  // it.
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inWorkspace(async ({ dir: cwd }) => {
      // The command waits for its standard input, which stays open.
      await using child = start("key did -", { cwd }, "open");
      await untilListening(child);
      assertEquals(await child.stop("SIGINT"), {
        ...{ code: 130, signal: null, stdout: "", stderr: "" },
      });
    }),
});

/**
 * Waits until the process handles SIGINT in 30 successive checks: during
 * startup, the runtime may have a temporary handler.
 */
async function untilListening(child: TestProcess): Promise<void> {
  let seen = 0;
  await waitUntil("the process listens to SIGINT", async () => {
    const status = await Deno.readTextFile(`/proc/${child.pid}/status`);
    const caught = BigInt(`0x${/SigCgt:\s*([0-9a-f]+)/.exec(status)![1]}`);
    seen = (caught & 2n) === 0n ? 0 : seen + 1;
    return seen === 30;
  });
}

Deno.test({
  name: "a terminal of unknown width gets unwrapped lines",
  // Needs `script` of util-linux; others have no -c.
  ignore: Deno.build.os !== "linux" || lacks("script"),
  async fn() {
    await inWorkspace(async ({ dir: cwd }) => {
      const words = [Deno.execPath(), ...denoArgs(["--help"], { cwd })];
      const args = ["-qec", words.join(" "), "/dev/null"];
      assertMatch(
        await runWell("script", args),
        /\n {2}verify +verify every signature and rule of an issuer's feed\r\n/,
      );
    });
  },
});

Deno.test({
  name:
    "y confirms a question on a terminal, Enter declines, Ctrl-C ends the command",
  ignore: Deno.build.os !== "linux" || lacks("script"),
  async fn() {
    await inWorkspace(async ({ dir: cwd }) => {
      assertEquals((await sig("init acme.example", { cwd })).code, 0);
      await Deno.writeTextFile(
        `${cwd}/people.csv`,
        "subject,type\ndid:web:alice.example,employee\n",
      );
      const apply = "apply --dir acme.example --from people.csv";
      const words = [Deno.execPath(), ...denoArgs(apply, { cwd })];
      const answer = async (keys: string) => {
        await using child = new TestProcess(
          "script",
          ["-qec", words.join(" "), "/dev/null"],
          {
            cwd,
            env: { SIG_KEYS_DIR: `${cwd}/keys`, NO_COLOR: "1" },
            stdin: "open",
          },
        );
        await child.said("Append this? [y/N] ");
        await child.write(keys);
        const { code, stdout } = await child.ended();
        return { code, said: stdout };
      };
      const stopped = await answer("\x03");
      assertEquals(stopped.code, 130, stopped.said);
      const refused = await answer("\n");
      assertEquals(refused.code, 2);
      assertStringIncludes(refused.said, "error: confirmation_required: ");
      const agreed = await answer("y\n");
      assertEquals(agreed.code, 0);
      assertStringIncludes(agreed.said, "Appended 1 event (seq=1)");
    });
  },
});

test("serve hosts an issuer until SIGINT", async ({ dir: cwd }) => {
  const host = `127.0.0.1:${freePort()}`;
  const init = `init ${host} --allow-insecure --dir i`;
  assertEquals((await sig(init, { cwd })).code, 0);

  await using child = start(`serve i --addr ${host}`, {
    cwd,
    permissions: ["--allow-read", `--allow-net=${host}`],
  });
  await child.said(/\n/);
  assertEquals(child.stdout, `http://${host}\n`);

  const source = `http://${host}/.well-known/sig.json`;
  const verify = `verify ${source} --allow-insecure`;
  assertEquals((await sig(verify, { cwd })).code, 0);

  // `sig serve` never compresses, since readers refuse every encoding.
  const head = await fetch(source, {
    headers: { "accept-encoding": "gzip, br" },
  });
  await head.body?.cancel();
  assertEquals(head.headers.get("content-encoding"), null);
  assert(/^"/.test(head.headers.get("etag")!));

  assertRan(await sig(`serve i --addr ${host}`, { cwd }), {
    code: 2,
    err: "at flag --addr",
  });

  const { stdout: _, ...ended } = await child.stop("SIGINT");
  const stderr = "Serving i. Stop it with Ctrl-C.\n";
  assertEquals(ended, { code: 0, signal: null, stderr });
});

issuerTest(
  "serve refuses a private key in jwks.json, and an incomplete directory",
  async (cwd) => {
    const known = `${cwd}/acme.example/.well-known`;
    const refused = async (dir: string, message: string) => {
      const ran = await sig(`serve ${dir} --addr 127.0.0.1:0`, { cwd });
      assertEquals([ran.code, ran.stdout], [2, ""]);
      assertStringIncludes(ran.stderr, `error: ${message}`);
      return ran.stderr;
    };
    await refused("nowhere", "source_not_found: Cannot read");
    const jwks = await Deno.readTextFile(`${known}/jwks.json`);
    const secret = jwks.replace('"kty"', '"d": "AAAA", "kty"');
    await Deno.writeTextFile(`${known}/jwks.json`, secret);
    await refused("acme.example", "private_key_in_jwks: ");
    await Deno.writeTextFile(`${known}/jwks.json`, jwks);
    await Deno.remove(`${known}/sig/events.jsonl`);
    const said = await refused("acme.example", "source_not_found: Cannot read");
    assertStringIncludes(said, "events.jsonl");
    // The error must not suggest a second `sig init`.
    assert(!said.includes("sig init"), said);
  },
);
