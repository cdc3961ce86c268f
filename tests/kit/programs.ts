/** The bundle of the programs, which many tests share. @module */

import { bundlePrograms } from "../../tools/programs.ts";

/**
 * The variable that names the folder of this run's bundle. `tools/run_tests.ts`
 * sets it; a test that is run alone makes the bundle itself.
 */
export const PROGRAMS_VARIABLE = "SIG_TEST_PROGRAMS";

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
