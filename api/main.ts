/** The process `sig-api`. @module */

import {
  createServerIo,
  runServer,
  surviveRejections,
} from "./process/server.ts";
import { apiProgram } from "./program.ts";

/** Runs the process's own words and ends it with their exit code. */
export async function main(): Promise<void> {
  const io = createServerIo();
  surviveRejections(globalThis, io);
  Deno.exit(await runServer(apiProgram, Deno.args, io));
}

if (import.meta.main) await main();
