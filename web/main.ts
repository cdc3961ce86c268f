/** The process `sig-web`. @module */

import { createServerIo, runServer } from "@sig/api/http";
import { webProgram } from "./program.ts";

/** Runs the process's own words and ends it with their exit code. */
export async function main(): Promise<void> {
  Deno.exit(await runServer(webProgram, Deno.args, createServerIo()));
}

if (import.meta.main) await main();
