/** The process `sig`, and the command line as a function. @module */

import { askedFormat, reportError } from "./output/report_error.ts";
import { createDenoIo } from "./terminal/deno_io.ts";
import type { Io } from "./terminal/io.ts";
import { VERSION } from "./terminal/version.ts";

/**
 * Runs a command. Never throws for what a user can cause.
 *
 * `sig --version` imports no other module, so that it starts as fast as an
 * empty script.
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

/** Runs the arguments of the process and exits with the resulting code. */
export async function main(): Promise<void> {
  const io = createDenoIo();
  // An uncaught error must not exit with Deno's code 1, which a script would
  // read as "deny".
  const fail = (error: unknown) => {
    try {
      return reportError(io, error, askedFormat(Deno.args) ?? "text");
    } catch {
      // stderr is closed too, so only the exit code remains.
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
  const code = await run(Deno.args, io).catch(fail);
  // Deno keeps compiled code for the next start only if the event loop has
  // turned once, which `--help` alone does not need.
  await crypto.subtle.digest("SHA-256", new Uint8Array());
  Deno.exit(code);
}

if (import.meta.main) await main();
