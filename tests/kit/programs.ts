/** The bundle of the programs, which many tests share. @module */

import { bundlePrograms } from "../../tools/programs.ts";
import { runProgram } from "../../tools/workspace.ts";

/**
 * The variable that names the folder of this run's bundle. `tools/run_tests.ts`
 * sets it; a test that is run alone makes the bundle itself.
 */
export const PROGRAMS_VARIABLE = "SIG_TEST_PROGRAMS";

const ROOT = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** What tests start; the worker appends to an issuer until it is killed. */
const ENTRIES = {
  api: "api/main",
  cli: "cli/main",
  web: "web/main",
  worker: "issuer/testdata/worker",
} as const;

/**
 * Returns the arguments after `deno run` and permissions that start a program:
 * from the bundle of this run, which loads in less than half of the time, or
 * from the checkout if a test is run alone.
 */
export function programArgs(name: keyof typeof ENTRIES): readonly string[] {
  const folder = Deno.env.get(PROGRAMS_VARIABLE);
  const file = ENTRIES[name];
  return folder === undefined
    ? ["--config", `${ROOT}/deno.json`, `${ROOT}/${file}.ts`]
    : ["--config", `${folder}/deno.json`, `${folder}/${file}.js`];
}

let made: Promise<string> | undefined;

Deno.test.afterAll(async () => {
  if (made) await Deno.remove(await made, { recursive: true });
});

/** Returns the folder of the bundle, which no test may change. */
export async function programs(): Promise<string> {
  return Deno.env.get(PROGRAMS_VARIABLE) ?? await (made ??= bundle());
}

async function bundle(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "sig-programs-" });
  await bundlePrograms(folder);
  return folder;
}

/** Makes the bundle of a run, with the worker. */
export async function bundleAll(folder: string): Promise<void> {
  const worker = ENTRIES.worker;
  await Promise.all([
    bundlePrograms(folder),
    runProgram(Deno.execPath(), [
      ...["bundle", "--quiet", "--platform=deno"],
      ...[`--output=${folder}/${worker}.js`, `${worker}.ts`],
    ]),
  ]);
}
