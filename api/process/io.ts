/** All that a process of this project touches of the outside. @module */

import { createPrivateFile, fileMode, readFile } from "./files.ts";
import {
  onHangup,
  readVariable,
  signalled,
  terminalColumns,
  writeAll,
} from "./streams.ts";

/** The outside, as one object: programs are started in tests with another. */
export interface ProcessIo {
  /** Writes a result. */
  stdout(text: string): void;
  /** Writes messages, everything but results. */
  stderr(text: string): void;
  /** Whether a stream is a terminal. */
  isTerminal(stream: "stdin" | "stdout" | "stderr"): boolean;
  /** Columns of the terminal that results go to; undefined where it is not a terminal. */
  columns(): number | undefined;
  /** The clock. */
  now(): Date;
  /** A variable of the environment; undefined when unset or not readable. */
  env(name: string): string | undefined;
  /** A whole file; rejects with `source_not_found`, `document_too_large`. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Makes a file of mode 0600; rejects with `write_failed` if it is there. */
  createPrivateFile(
    path: string,
    content: string | Uint8Array,
    options?: { readonly makeFolder?: boolean },
  ): Promise<void>;
  /** Permission bits of a file such as 0o600, null where there are none. */
  fileMode(path: string): Promise<number | null>;
  /** Calls it at each SIGHUP, until what it returns is called. */
  onHangup(work: () => void): () => void;
  /** Resolves when the user or the system asks to stop. */
  stopRequested(): Promise<void>;
}

/**
 * Makes the real {@linkcode ProcessIo}. A second signal changes nothing: Ctrl-C
 * reaches a process more than once where a package runner passes it on, and
 * requests in flight have bounded time as it is.
 *
 * @example
 * ```ts
 * import { createProcessIo } from "@sig/api/process";
 * import { assert } from "@std/assert";
 *
 * assert(createProcessIo().now().getTime() > 0);
 * ```
 */
export function createProcessIo(): ProcessIo {
  return {
    stdout: (text) => writeAll(Deno.stdout, text),
    stderr: (text) => writeAll(Deno.stderr, text),
    isTerminal: (stream) => Deno[stream].isTerminal(),
    columns: terminalColumns,
    now: () => new Date(),
    env: readVariable,
    readFile,
    createPrivateFile,
    fileMode,
    onHangup,
    stopRequested: () => signalled(),
  };
}
