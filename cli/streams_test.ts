import { writeAll } from "@sig/api/program";
import { assert, assertEquals } from "@std/assert";
import { isCi, run } from "../tests/kit/process.ts";
import { denoArgs, sig } from "./testdata/process.ts";
import { draftsOf, inWorkspace } from "./testdata/workspace.ts";

const FULL = "/dev/full";
const hasFull = await Deno.stat(FULL).then(() => true, () => false);

/** Runs `work` with a log that is longer than the buffer of a pipe. */
async function withIssuer(work: (cwd: string) => Promise<void>): Promise<void> {
  await inWorkspace(async (workspace) => {
    const { dir: cwd } = workspace;
    await workspace.ok("init acme.example --dir $D/acme");
    const stdin = draftsOf(60, { reason: "x".repeat(2_000) });
    await workspace.ok("import --dir $D/acme -", { stdin });
    await work(cwd);
  });
}

/** Runs a line of shell in which `sig` is this checkout's command. */
async function shell(line: string, cwd: string): Promise<string> {
  const words = denoArgs([], { cwd }).map((word) => `'${word}'`).join(" ");
  const script = `sig() { '${Deno.execPath()}' ${words} "$@"; }; ${line}`;
  const env = { SIG_KEYS_DIR: `${cwd}/keys` };
  return (await run("sh", ["-c", script], { cwd, env })).stdout;
}

Deno.test("a pipe that its reader closes early is not an error", async () => {
  await withIssuer(async (cwd) => {
    const line = "{ sig log ./acme --format json 2>err; echo $? >code; }";
    assertEquals(await shell(`${line} | head -c 1`, cwd), "{");
    assertEquals(await Deno.readTextFile(`${cwd}/code`), "0\n");
    assertEquals(await Deno.readTextFile(`${cwd}/err`), "");
  });
});

Deno.test("a result of 128 KiB is written completely", async () => {
  await withIssuer(async (cwd) => {
    const { code, stdout } = await sig(["log", "./acme", "--format", "json"], {
      cwd,
    });
    assertEquals(code, 0);
    const events = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(events.length, 60);
    assert(stdout.length > 128 * 1024);
  });
});

Deno.test({
  name: "output that can't be written fails with write_failed and exit code 2",
  ignore: !isCi && !hasFull,
  fn: () =>
    inWorkspace(async (workspace) => {
      const { dir: cwd } = workspace;
      await workspace.sig(["init", "acme.example", "--dir", "$D/acme"]);
      const check =
        "sig check --sig ./acme --subject did:web:a.example --require role=x";
      for (
        const line of [
          `sig verify ./acme >${FULL}`,
          `sig verify ./acme >${FULL} 2>${FULL}`,
          `${check} >${FULL}`,
          `sig verify ./nowhere 2>${FULL}`,
          `sig 2>${FULL}`,
        ]
      ) assertEquals(await shell(`${line}; echo $?`, cwd), "2\n", line);
      assertEquals(
        await shell(`sig verify ./acme 2>&1 >${FULL}`, cwd),
        "error: write_failed: Cannot write the result: standard output is closed or full\n  hint: The command may have taken effect: check before you rerun it.\n",
      );
    }),
});

Deno.test({
  name: "an append whose acknowledgement can't be written exits with 0",
  ignore: !isCi && !hasFull,
  fn: () =>
    inWorkspace(async (workspace) => {
      const { dir: cwd } = workspace;
      await workspace.sig(["init", "acme.example", "--dir", "$D/acme"]);
      const upsert =
        "sig upsert --dir ./acme --subject did:web:a.example --type other";
      assertEquals(
        await shell(`${upsert} 2>&1 >${FULL}; echo $?`, cwd),
        "warning: the events are published, but a later step failed: the output can't be written\n0\n",
      );
      assertEquals(
        await shell(`${upsert} >${FULL} 2>${FULL}; echo $?`, cwd),
        "0\n",
      );
      assertEquals((await workspace.events()).length, 2);
    }),
});

Deno.test("writing retries after WouldBlock and stops after BrokenPipe", () => {
  const written: number[] = [];
  let calls = 0;
  writeAll({
    writeSync(bytes) {
      if (++calls % 2 === 0) throw new Deno.errors.WouldBlock();
      written.push(bytes[0]!);
      return 1;
    },
  }, "abc");
  assertEquals(new TextDecoder().decode(new Uint8Array(written)), "abc");
  writeAll({
    writeSync() {
      throw new Deno.errors.BrokenPipe();
    },
  }, "abc");
});
