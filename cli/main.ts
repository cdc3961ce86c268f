/** The process `sig`. @module */

import { askedFormat, reportError } from "./output/report_error.ts";
import { createDenoIo } from "./terminal/deno_io.ts";
import { run } from "./run.ts";

/** Runs the process's own words and ends it with their exit code. */
export async function main(): Promise<void> {
  const io = createDenoIo();
  // An error that nobody caught must not end with Deno's own 1: a script would
  // read it as "deny".
  const fail = (error: unknown) => {
    try {
      return reportError(io, error, askedFormat(Deno.args) ?? "text");
    } catch {
      // Nobody reads it, and 2 is all that is left to say.
      return 2;
    }
  };
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    Deno.exit(fail(event.reason));
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    Deno.exit(fail(event.error));
  });
  Deno.exit(await run(Deno.args, io).catch(fail));
}

if (import.meta.main) await main();
