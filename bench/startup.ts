/**
 * Goal 8. A whole process of `sig check` on a local issuer of 5 events,
 * compared with an empty script (at most 3 ×): from the modules, installed, and
 * compiled.
 *
 * @module
 */

import { runWell, tempFolder } from "../tests/kit/process.ts";
import {
  findOldRuntime,
  OLD_FLAGS,
  oldRuntimeEnv,
  writeOldRuntime,
} from "../tests/ship/testdata/old_runtime.ts";
import { compileExecutable } from "../tools/compile.ts";
import { LAZY_IMPORTS, shellLauncher } from "../tools/launcher.ts";
import { bundlePrograms, EXECUTABLES, V8_FLAGS } from "../tools/programs.ts";
import { ROOT } from "../tools/workspace.ts";
import { alternate, median } from "./pairs.ts";

/** Runs of a command in a row, since a shell measures only hundredths. */
const RUNS = 20;
const ROUNDS = 7;
const [SIG] = EXECUTABLES;
await using folder = await tempFolder();
const cwd = folder.path;
const env = { SIG_KEYS_DIR: `${cwd}/keys` };
const root = decodeURIComponent(ROOT.pathname).slice(0, -1);

/** Times of one process in milliseconds. */
interface Times {
  readonly processor: number;
  readonly wall: number;
}

/** Runs a command several times in one shell. */
async function run(command: string): Promise<Times> {
  const start = performance.now();
  const list = `${command} >/dev/null || exit 3\n`.repeat(RUNS);
  const text = await runWell("sh", ["-c", `${list}times`], { cwd, env });
  const wall = (performance.now() - start) / RUNS;
  // User and system time of the children, such as `0m0.210000s 0m0.050000s`.
  const [user = 0, system = 0] = text.trim().split("\n")[1]!.split(" ")
    .map((each) => {
      const [minutes, seconds] = each.split("m");
      return Number(minutes) * 60 + Number.parseFloat(seconds!);
    });
  return { processor: (user + system) * 1000 / RUNS, wall };
}

const bundle = `${cwd}/programs`;
await bundlePrograms(bundle);
const launcher = shellLauncher(SIG!, {
  deno: Deno.execPath(),
  bundle,
  names: 0,
});
await Deno.writeTextFile(`${cwd}/sig`, launcher, { mode: 0o755 });
await Deno.writeTextFile(`${cwd}/empty.ts`, "");
await runWell("./sig", ["init", "acme.example", "--dir", "acme"], { cwd, env });
for (let i = 0; i < 5; i++) {
  const subject = `did:web:person-${i}.example`;
  const words = ["--dir", "acme", "--type", "other", "--subject", subject];
  await runWell("./sig", ["upsert", ...words], { cwd, env });
}

const check =
  "check --sig ./acme --require relationship=other --subject did:web:person-1.example";
const deno = `"${Deno.execPath()}"`;
const commands = new Map([
  ["empty script", `${deno} run empty.ts`],
  [
    "modules",
    `${deno} run -A ${LAZY_IMPORTS} ${V8_FLAGS} --config "${root}/deno.json" "${root}/cli/main.ts" ${check}`,
  ],
  ["installed", `./sig ${check}`],
]);
const old = await findOldRuntime();
if (old.missing === undefined) {
  const env = oldRuntimeEnv(await writeOldRuntime(cwd, old.program));
  const options = { bundle, deno: old.deno, flags: OLD_FLAGS, env };
  const folder = `${cwd}/compiled`;
  const path = await compileExecutable(SIG!, { ...options, folder });
  commands.set("empty script, 2.7.11", `"${old.deno}" run empty.ts`);
  commands.set("compiled, 2.7.11", `"${path}" ${check}`);
} else console.log(`compiled: not measured, ${old.missing}`);

const names = [...commands.keys()];
const works = names.map((name) => () => run(commands.get(name)!));
const results = await alternate(works, ROUNDS);
const empty = (name: string) =>
  results[
    names.indexOf(name.endsWith("11") ? "empty script, 2.7.11" : names[0]!)
  ]!;
for (const [i, name] of names.entries()) {
  const figures = (["processor", "wall"] as const).map((kind) => {
    const ms = median(results[i]!.map((each) => each[kind]));
    const ratio = median(
      results[i]!.map((each, at) => each[kind] / empty(name)[at]![kind]),
    );
    return `${kind} ${ms.toFixed(0)} ms, ${ratio.toFixed(2)} ×`;
  });
  console.log(`${name}: ${figures.join("; ")} (goal: at most 3)`);
}
