/** Running a program of the user's. @module */

import { quote } from "@sig/core";
import { usageError } from "@sig/api/flags";

/**
 * Runs a program with its words, without a shell, and waits for its end. What it
 * prints goes where ours does.
 *
 * @returns Its exit code.
 * @throws {SigError} `invalid_request` when it can't be started.
 */
export async function runProgram(
  [program = "", ...args]: readonly string[],
  stdin: string,
): Promise<number> {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args,
      stdin: "piped",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      throw usageError(`${quote(program)} may not be started`, {
        flag: "--exec",
        hint:
          "Executables may start nothing: use the sig of deno task install, or deno run --allow-run=PROGRAM.",
      });
    }
    throw usageError(`${quote(program)} can't be run`, {
      flag: "--exec",
      hint: "Name a program that is there and may be run.",
    });
  }
  try {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  } catch {
    // It need not read.
  }
  return (await child.status).code;
}
