import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { start } from "../testdata/process.ts";
import {
  draftsOf,
  type Given,
  testsWith,
  type Workspace,
} from "../testdata/workspace.ts";
import { waitUntil } from "../../tests/kit/wait.ts";
import type { TestProcess } from "../../tests/kit/process.ts";

interface Watched {
  readonly workspace: Workspace;
  /** Appends events about new people (default: one). */
  append(count?: number): Promise<unknown>;
  readonly t: Deno.TestContext;
}

/** Declares a test with an issuer in the folder `acme`. */
const test = testsWith<Watched>(async (workspace, work, t) => {
  await workspace.ok("init acme.example --dir $D/acme");
  let people = 0;
  const append = (count = 1) => {
    const stdin = draftsOf(count, {}, people + 1);
    people += count;
    return workspace.ok("import --dir $D/acme -", { stdin });
  };
  await work({ workspace, append, t });
});

/** Returns the sequences of the printed lines; every line must be complete. */
function sequencesOf(stdout: string): readonly number[] {
  const lines = stdout.split("\n");
  assertEquals(lines.pop(), "", "the last line is not complete");
  return lines.map((line) => {
    const json = JSON.parse(line);
    assertEquals(Object.keys(json), ["sequence", "event_id", "event", "kid"]);
    assertEquals(json.event.event_id, json.event_id);
    return json.sequence;
  });
}

test("watch prints each new event once as a JSON line, for any path to the folder", async ({ workspace, append }) => {
  await append(2);
  await Deno.symlink(workspace.path("acme"), workspace.path("link"));
  const once = async (words: string) =>
    sequencesOf(await workspace.ok(`watch --once ${words}`));
  assertEquals(await once("$D/acme"), []);
  await append();
  assertEquals(await once("$D/link"), [3]);
  assertEquals(await once("--sig $D/acme/"), []);
  assertEquals(await once("$D/acme --cursor b --from 2"), [2, 3]);
  assertEquals(await once("$D/acme --no-pin --from 3"), [3]);
});

test("--exec passes each event on standard input, and retries until exit code 0", async ({ workspace, append }) => {
  await append(3);
  const script = async (name: string, text: string) => {
    const path = workspace.path(name);
    await Deno.writeTextFile(path, `#!/bin/sh\n${text}\n`, { mode: 0o700 });
    return path;
  };
  const watch = (exec: string, words: string) =>
    workspace.sig(`watch $D/acme --exec '${exec}' ${words}`);
  const got = () => Deno.readTextFile(workspace.path("got"));
  // The program fails on the second event, so the later events wait.
  const picky = await script(
    "picky",
    `read -r line; case $line in '{"sequence":2'*) exit 7;; esac; echo "$line" >> "$1"`,
  );
  const refused = await watch(`${picky} $D/got`, "--from 1 --once");
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, "ended with 7 on event 2");
  assertEquals(sequencesOf(await got()), [1]);
  const keep = await script("keep", `cat >> "$1"`);
  const kept = await watch(`${keep} $D/got`, "--once");
  assertEquals([kept.code, kept.stdout, kept.stderr], [0, "", ""]);
  assertEquals(sequencesOf(await got()), [1, 2, 3]);
  // No shell interprets the words.
  const words = await watch(
    `${keep} $D/other;false`,
    "--cursor w --from 3 --once",
  );
  assertEquals(words.code, 0, words.stderr);
  const named = await Deno.readTextFile(workspace.path("other;false"));
  assertEquals(sequencesOf(named), [3]);
  const missing = await watch("$D/no-such", "--cursor m --from 3 --once");
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "can't be run");
});

test("a killed watch loses no event and repeats at most the last one", async ({ workspace, append }) => {
  await append();
  const cwd = workspace.dir;
  const begun = await workspace.sig("watch $D/acme --from 1 --once");
  const all = [...sequencesOf(begun.stdout)];
  const rounds = 12;
  let repeated = 0;
  for (let round = 0; round < rounds; round++) {
    await append(12);
    await using child = start("watch ./acme --interval 50ms", { cwd });
    // Kills at startup, while printing, and while waiting for events.
    const wanted = [0, 1, 3, 10][round % 4]!;
    await child.said(RegExp(`^(?:.*\n){${wanted}}`));
    const seen = sequencesOf((await child.stop("SIGKILL")).stdout);
    if (seen.length > 0 && seen[0] === all.at(-1)) repeated++;
    const fresh = seen[0] === all.at(-1) ? seen.slice(1) : seen;
    all.push(...fresh);
  }
  const last = await workspace.sig("watch $D/acme --once");
  const rest = sequencesOf(last.stdout);
  all.push(...rest[0] === all.at(-1) ? rest.slice(1) : rest);
  assertEquals(all, Array.from({ length: 1 + 12 * rounds }, (_, i) => i + 1));
  assert(repeated <= rounds);
});

test("an interrupt ends watch with 130, and no event is repeated", async ({ workspace, append }) => {
  await append(3);
  await using child = start("watch ./acme --from 1 --interval 1h", {
    cwd: workspace.dir,
  });
  await child.said('{"sequence":3');
  assertEquals((await child.stop("SIGINT")).code, 130);
  const { stdout } = await workspace.sig("watch $D/acme --once");
  assertEquals(stdout, "");
});

/**
 * Sends signals while `--exec` runs `body`, after the program has written the
 * file `begun`. Returns exit code and stderr of the watch, and the events of
 * the next one.
 */
async function interruptExec(
  workspace: Workspace,
  body: string,
  { words = [], signals, until = "" }: {
    readonly words?: readonly string[];
    readonly signals: (child: TestProcess, program: number) => void;
    /** Text on stderr to wait for before the signals. */
    readonly until?: string;
  },
) {
  const path = workspace.path("program");
  await Deno.writeTextFile(
    path,
    `#!/bin/sh\ncat > /dev/null\necho $$ > begun.new; mv begun.new begun\n${body}\n`,
    { mode: 0o700 },
  );
  for (const name of ["asked", "begun"]) {
    await Deno.remove(workspace.path(name)).catch(() => {});
  }
  await using child = start(
    ["watch", "./acme", "--exec", "./program", ...words],
    { cwd: workspace.dir },
  );
  await child.said(until);
  const program = await waitUntil(
    "the program runs",
    () => Deno.readTextFile(workspace.path("begun")).catch(() => ""),
  );
  signals(child, Number(program));
  const { code, stdout, stderr } = await child.ended();
  assertEquals(stdout, "");
  const next = await workspace.sig("watch $D/acme --once");
  return { code, stderr, next: sequencesOf(next.stdout) };
}

test("an interrupt while --exec runs is not an error and acknowledges finished events only", async ({ workspace, append, t }) => {
  await append(2);
  // The cursor is before the events of each step.
  await workspace.sig("watch $D/acme --once");
  await append();
  // The program runs until the watch was asked to stop.
  const waits = (code: number) =>
    // real time: the shell waits until the test has written a file, then long
    // enough for the watch to receive the signal before the program ends.
    `while [ ! -e asked ]; do sleep 0.05; done; sleep 2; exit ${code}`;
  const asks = (signal: Deno.Signal) => (child: TestProcess) => {
    child.signal(signal);
    Deno.writeTextFileSync(workspace.path("asked"), "");
  };
  await t.step("SIGTERM, and the program fails", async () => {
    assertEquals(
      await interruptExec(workspace, waits(7), { signals: asks("SIGTERM") }),
      { code: 0, stderr: "", next: [3] },
    );
  });
  await t.step("Ctrl-C, which also ends the program", async () => {
    await append();
    assertEquals(
      // real time: the signal ends the sleep.
      await interruptExec(workspace, "exec sleep 600", {
        signals(child, program) {
          Deno.kill(program, "SIGINT");
          child.signal("SIGINT");
        },
      }),
      { code: 130, stderr: "", next: [4] },
    );
  });
  await t.step("SIGINT before the program is retried", async () => {
    await append();
    const ran = await interruptExec(workspace, "exit 7", {
      signals: (child) => child.signal("SIGINT"),
      until: "again in",
    });
    assertEquals([ran.code, ran.next], [130, [5]]);
    assertEquals(
      ran.stderr,
      'warning: "./program" ended with 7 on event 5; again in 1 s\n',
    );
  });
  await t.step("SIGTERM, and the program succeeds", async () => {
    await append(2);
    assertEquals(
      await interruptExec(workspace, waits(0), { signals: asks("SIGTERM") }),
      { code: 0, stderr: "", next: [7] },
    );
  });
  await t.step("SIGINT with --once, and the program fails", async () => {
    await append();
    assertEquals(
      await interruptExec(workspace, waits(7), {
        words: ["--once"],
        signals: asks("SIGINT"),
      }),
      { code: 130, stderr: "", next: [8] },
    );
  });
});

test("sig log --follow prints new events", async ({ workspace, append }) => {
  await append(2);
  await using child = start(
    "log ./acme --follow --interval 50ms --format json",
    { cwd: workspace.dir },
  );
  await child.said(/^(?:.*\n){2}/);
  await append(2);
  await child.said(/^(?:.*\n){4}/);
  const { code, stdout } = await child.stop("SIGINT");
  assertEquals(code, 130);
  const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.map(({ sequence }) => sequence), [1, 2, 3, 4]);
});

test("watch warns of quotes in --exec, and shows on a terminal that it waits", async ({ workspace, append }) => {
  await append();
  const watch = "watch $D/acme --from 1 --exec";
  await workspace.says([
    ...watch.split(" "),
    "false 'exit 0'",
    ...["--once", "--format", "text"],
  ], {
    code: 2,
    err:
      "warning: --exec does not support quotes: the arguments are false, 'exit, 0'\n",
  });
  // Interrupted after the program got the event, when no poll is running.
  const atTerminals = (
    ...terminals: ("stdout" | "stderr")[]
  ): Given => {
    const { promise: interrupted, resolve } = Promise.withResolvers<void>();
    const runProgram = () => {
      resolve();
      return Promise.resolve(0);
    };
    return { terminals, interrupted, io: { runProgram } };
  };
  await workspace.says(`${watch} true --cursor b`, {
    ...atTerminals("stdout", "stderr"),
    code: 130,
    stderr: "Watching $D/acme. Stop it with Ctrl-C.\n",
  });
  await workspace.says(`${watch} true --once --cursor d`, {
    terminals: ["stdout", "stderr"],
    stderr: "",
  });
  await workspace.says(`${watch} true --cursor c`, {
    ...atTerminals("stderr"),
    code: 130,
    stderr: "",
  });
});
