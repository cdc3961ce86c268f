/** The process `sig-api`. @module */

import { createServerIo, runServer } from "./http/mod.ts";
import { apiProgram } from "./program.ts";

/** Runs the process's own words and ends it with their exit code. */
export async function main(): Promise<void> {
  Deno.exit(await runServer(apiProgram, Deno.args, createServerIo()));
}

if (import.meta.main) await main();
