/** The process `sig-web`. @module */

import { createServerIo, runServer, surviveRejections } from "@sig/api/server";
import { webProgram } from "./program.ts";

/** Runs the process's own words and ends it with their exit code. */
export async function main(): Promise<void> {
  const io = createServerIo();
  surviveRejections(globalThis, io);
  Deno.exit(await runServer(webProgram, Deno.args, io));
}

if (import.meta.main) await main();
