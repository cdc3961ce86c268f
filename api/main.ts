/** The entry point of the process `sig-api`. @module */

import { createServerIo, runServer, surviveRejections } from "./program/mod.ts";
import { apiProgram } from "./sig_api.ts";

/**
 * Runs the server with the process's arguments and exits with its exit code.
 */
export async function main(): Promise<void> {
  const io = createServerIo();
  surviveRejections(globalThis, io);
  Deno.exit(await runServer(apiProgram, Deno.args, io));
}

if (import.meta.main) await main();
