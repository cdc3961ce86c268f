/** The process `sig`. @module */

import type { Io } from "./io.ts";
import { run } from "./run.ts";

/** Runs the process's own words and ends it with their exit code. */
export async function main(): Promise<void> {
  Deno.exit(await runSafely());
}

async function runSafely(): Promise<number> {
  const { createDenoIo } = await import("./deno_io.ts");
  const io: Io = createDenoIo();
  // An error that nobody caught must not end with Deno's own 1: a script would
  // read it as "deny".
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    io.stderr("error: internal: Cannot go on: an internal error occurred\n");
    Deno.exit(2);
  });
  try {
    return await run(Deno.args, io);
  } catch (error) {
    const { reportError } = await import("./output.ts");
    return reportError(io, error, "text");
  }
}

if (import.meta.main) await main();
