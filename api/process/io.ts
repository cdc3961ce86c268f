/** All that a server's process touches of the outside. @module */

import type { Address } from "../flags/mod.ts";
import { createPrivateFile, isOpenToOthers, readFile } from "./files.ts";
import { listen, type Respond, type RunningServer } from "./listen.ts";
import {
  onHangup,
  readVariable,
  signalled,
  terminalColumns,
  writeAll,
} from "./streams.ts";

/** The outside, as one object: servers are started in tests with another. */
export interface ServerIo {
  /** Writes a result. */
  stdout(text: string): void;
  /** Writes messages, everything but results. */
  stderr(text: string): void;
  /**
   * Writes log lines; resolves when they are written, and must not hold up the
   * process until then, since the reader may be slow (default: `stderr`).
   */
  log?(text: string): Promise<void>;
  /** Whether a person reads the stream (default: no). */
  isTerminal?(stream: "stderr"): boolean;
  /** Columns of the terminal that results go to; undefined where it is not a terminal. */
  columns?(): number | undefined;
  /** The clock. */
  now(): Date;
  /** A variable of the environment; undefined when unset or not readable. */
  env?(name: string): string | undefined;
  /** A whole file; rejects with `source_not_found`, `document_too_large`. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Makes a file of mode 0600; rejects with `write_failed` if it is there. */
  createPrivateFile?(
    path: string,
    text: string,
    options?: { readonly makeFolder?: boolean },
  ): Promise<void>;
  /** Whether others than the owner may open a file; false where nobody can tell. */
  isOpenToOthers?(path: string): Promise<boolean>;
  /** Calls it at each SIGHUP, until what it returns is called. */
  onHangup?(work: () => void): () => void;
  /**
   * Serves requests; rejects with `invalid_request` if it can't listen. `report`
   * gets what the operator should know later.
   */
  serve(
    address: Address,
    respond: Respond,
    report?: (message: string) => void,
  ): Promise<RunningServer>;
  /** Resolves when the user or the system asks to stop. */
  stopRequested(): Promise<void>;
}

/**
 * Makes the real {@linkcode ServerIo} of a process. A second signal changes
 * nothing: Ctrl-C reaches a process more than once where a package runner passes
 * it on, and requests in flight have bounded time as it is.
 *
 * @example
 * ```ts
 * import { createServerIo } from "@sig/api/server";
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
async function writeLog(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    at += await Deno.stderr.write(bytes.subarray(at));
  }
}
