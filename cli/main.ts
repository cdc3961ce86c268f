/** The process `sig`. @module */

import { askedFormat } from "./command_line/asked_format.ts";
import { createDenoIo } from "./terminal/deno_io.ts";
import { run } from "./run.ts";

/** Runs the process's own words and ends it with their exit code. */
export async function main(): Promise<void> {
  const io = createDenoIo();
  // An error that nobody caught must not end with Deno's own 1: a script would
  // read it as "deny".
  const fail = async (error: unknown) => {
    const { reportError } = await import("./command_line/output.ts");
    return reportError(io, error, askedFormat(Deno.args) ?? "text");
  };
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    fail(event.reason).then(Deno.exit, () => Deno.exit(2));
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    fail(event.error).then(Deno.exit, () => Deno.exit(2));
  });
  Deno.exit(await run(Deno.args, io).catch(fail));
}

if (import.meta.main) await main();
