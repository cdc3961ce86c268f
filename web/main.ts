/** The entry point of the process `sig-web`. @module */

import { createServerIo, runServer, surviveRejections } from "@sig/api/program";
import { webProgram } from "./sig_web.ts";

/** Runs `sig-web` with the arguments of the process and exits with its code. */
export async function main(): Promise<void> {
  const io = createServerIo();
  surviveRejections(globalThis, io);
  Deno.exit(await runServer(webProgram, Deno.args, io));
}

if (import.meta.main) await main();
