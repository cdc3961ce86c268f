/**
 * The executables: how large they are, and how fast they start, against the
 * same program under `deno run`. Whole processes.
 * Run: `deno run -A bench/executables.ts`
 *
 * Where the current runtime can't be downloaded they are made with an older
 * one from npm, and compared with the Deno of that version.
 *
 * @module
 */
import {
  fetchOldRuntime,
  findOldRuntime,
  OLD_FLAGS,
  oldRuntimeEnv,
} from "../tests/ship/testdata/old_runtime.ts";
import { startServer, tempFolder } from "../tests/ship/testdata/process.ts";
import {
  compileExecutable,
  type CompileOptions,
  EXECUTABLES,
} from "../tools/compile.ts";
import { comparePairs } from "./pairs.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const RUNS = 5;

/** How the current Deno, else an older one, compiles and runs. */
async function choose(folder: string): Promise<{
  readonly options: CompileOptions;
  readonly runFlags: readonly string[];
}> {
  const options = { folder, deno: Deno.execPath() };
  try {
    await compileExecutable(EXECUTABLES[0]!, options);
    return { options, runFlags: [] };
  } catch (error) {
    console.log((error as Error).message);
  }
  const old = await findOldRuntime();
  if (old.missing !== undefined) throw new Error(old.missing);
  const env = oldRuntimeEnv(await fetchOldRuntime(folder));
  console.log("made with an older runtime");
  return {
    options: { folder, deno: old.deno, flags: OLD_FLAGS, env },
    runFlags: ["--no-lock", "--no-check", "--unstable-raw-imports"],
  };
}

async function versions(command: string, args: readonly string[]) {
  for (let i = 0; i < RUNS; i++) {
    const { success } = await new Deno.Command(command, {
      args: [...args, "--version"],
      stdout: "null",
      stderr: "null",
    }).output();
    if (!success) throw new Error(`${command} failed`);
  }
}

/** From the start of the process to its first answer, and to its end. */
async function serve(command: string, args: readonly string[]) {
  await using server = await startServer(command, [
    ...args,
    ...["--addr", "127.0.0.1:0", "--log", "off"],
  ]);
  await (await fetch(`${server.origin}/healthz`)).text();
}

await using folder = await tempFolder();
const { options, runFlags } = await choose(folder.path);
const deno = options.deno!;
const sizes: string[] = [];
for (const executable of EXECUTABLES) {
  const { name, entry, permissions } = executable;
  const path = await compileExecutable(executable, options);
  sizes.push(`${name} ${((await Deno.stat(path)).size / 1e6).toFixed(0)} MB`);
  const run = [
    ...["run", "--quiet", ...runFlags, ...permissions],
    ...["--config", `${ROOT}deno.json`, ROOT + entry],
  ];
  const isServer = name !== "sig";
  const work = isServer ? serve : versions;
  const { a, b, ratio } = await comparePairs(
    () => work(path, []),
    () => work(deno, run),
    15,
  );
  const runs = isServer ? 1 : RUNS;
  console.log(
    `${name.padEnd(8)} ${(a / runs).toFixed(0)} ms  deno run ${
      (b / runs).toFixed(0)
    } ms  ratio ${ratio.toFixed(2)}`,
  );
}
console.log(sizes.join(", "));
