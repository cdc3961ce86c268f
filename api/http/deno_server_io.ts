/** The outside of a server as Deno gives it. @module */

import { quote, SigError } from "@sig/core";
import { listen } from "./listen.ts";
import { readVariable } from "./read_variable.ts";
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
    log: writeLog,
    now: () => new Date(),
    env: readVariable,
    readFile,
    serve: (address, respond) =>
      Promise.resolve().then(() => listen(address, respond)),
    stopRequested,
  };
}

function writeAll(
  writer: { writeSync(bytes: Uint8Array): number },
  text: string,
) {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) {
      at += writer.writeSync(bytes.subarray(at));
    }
  } catch (error) {
    // Whoever read this has gone; the service goes on.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
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

async function readFile(path: string, maxBytes: number): Promise<Uint8Array> {
  const shown = quote(path);
  try {
    const info = await Deno.stat(path);
    // A FIFO or device would block, or never end.
    if (info.isFile && info.size <= maxBytes) return await Deno.readFile(path);
  } catch (cause) {
    const isNotGiven = cause instanceof Deno.errors.NotCapable;
    const hint = `Run it with --allow-read=${path}.`;
    throw new SigError(
      "source_not_found",
      `Cannot read ${shown}: ${whyNotRead(cause)}`,
      { cause, context: isNotGiven ? { hint } : {} },
    );
  }
  throw new SigError(
    "document_too_large",
    `Cannot read ${shown}: it must be a file of at most ${maxBytes} bytes`,
  );
}

function whyNotRead(error: unknown): string {
  const { NotCapable, NotFound, PermissionDenied } = Deno.errors;
  if (error instanceof NotFound) return "there is no such file";
  if (error instanceof NotCapable) {
    return "the program was not given permission to read it";
  }
  if (error instanceof PermissionDenied) {
    return "the system does not let this user read it";
  }
  return "reading it failed";
}

function stopRequested(): Promise<void> {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT"]
    : ["SIGINT", "SIGTERM"];
  return new Promise((resolve) => {
    for (const signal of signals) {
      Deno.addSignalListener(signal, () => resolve());
    }
  });
}
