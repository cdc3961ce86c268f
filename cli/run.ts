/** The command line as a function: words in, exit code out. @module */

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
