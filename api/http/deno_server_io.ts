/** The outside of a server as Deno gives it. @module */

import {
  createPrivateFile,
  isOpenToOthers,
  onHangup,
  readFile,
  readVariable,
  signalled,
  terminalColumns,
  writeAll,
} from "./deno_process.ts";
import { listen } from "./listen.ts";
import type { ServerIo } from "./server_io.ts";

/**
 * Makes the real {@linkcode ServerIo} of a process. A second signal changes
 * nothing: Ctrl-C reaches a process more than once where a package runner passes
 * it on, and requests in flight have bounded time as it is.
 *
 * @example
 * ```ts
 * import { createServerIo } from "@sig/api/http";
 * import { assert } from "@std/assert";
 *
 * assert(createServerIo().now().getTime() > 0);
 * ```
 */
export function createServerIo(): ServerIo {
  return {
    stdout: (text) => writeAll(Deno.stdout, text),
    stderr: (text) => writeAll(Deno.stderr, text),
    isTerminal: (stream) => Deno[stream].isTerminal(),
    columns: terminalColumns,
    log: writeLog,
    now: () => new Date(),
    env: readVariable,
    readFile,
    createPrivateFile,
    isOpenToOthers,
    onHangup,
    serve: (address, respond, report) =>
      Promise.resolve().then(() => listen(address, respond, report)),
    stopRequested: () => signalled(),
  };
}

/**
 * Writes to standard error beside the process: a reader that is slow or stopped
 * holds up nobody.
 *
 * @throws {Deno.errors.BrokenPipe} when the reader has gone.
 */
export async function writeLog(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    at += await Deno.stderr.write(bytes.subarray(at));
  }
}
