/** The process `sig`, and the command line as a function. @module */

import { askedFormat, reportError } from "./output/report_error.ts";
import { createDenoIo } from "./terminal/deno_io.ts";
import type { Io } from "./terminal/io.ts";
import { VERSION } from "./terminal/version.ts";

/**
 * Runs a command. Never throws for what a user can cause.
 *
 * `sig --version` imports nothing else, so that it costs what an empty script
 * costs.
 *
 * @example
 * ```ts
 * import { createDenoIo, run } from "@sig/cli";
 * import { assertEquals } from "@std/assert";
 *
 * let printed = "";
 * const io = { ...createDenoIo(), stdout: (text: string) => void (printed += text) };
 * assertEquals(await run(["--version"], io), 0);
 * assertEquals(printed, "sig 0.1.0\n");
 * ```
 *
 * @returns 0: yes, or done; 1: a question was answered with no; 2: all else.
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    io.stdout(`sig ${VERSION}\n`);
    return 0;
  }
  const { dispatch } = await import("./dispatch.ts");
  return await dispatch(args, io);
}

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
