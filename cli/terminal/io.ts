/** All that the command line touches of the outside. @module */

import type { ProcessIo } from "@sig/api/process";

/**
 * The outside, as one object: commands are tested as data, with what they were
 * given and what they said.
 */
export interface Io extends ProcessIo {
  /** All of standard input, at most so many bytes. */
  readStdin(maxBytes: number): Promise<Uint8Array>;
  /** Writes a file of mode 0600 in the place of an old one, all or nothing. */
  replaceFile?(path: string, text: string): Promise<void>;
  /** Makes a folder of mode 0700, unless it is there; whether it is. */
  makePrivateFolder(path: string): Promise<boolean>;
  /** Makes a file for others to read; rejects as `createPrivateFile`. */
  createFile(path: string, text: string): Promise<void>;
  /** A path from the root on; links in it are left as they are. */
  absolutePath(path: string): string;
  /** A path without links; undefined where there is none such. */
  realPath?(path: string): Promise<string | undefined>;
  /**
   * Runs a program, without a shell, with that on its standard input, and waits
   * for its end; its exit code. Rejects with `invalid_request` if it can't.
   */
  runProgram?(words: readonly string[], stdin: string): Promise<number>;
  /** Connects to a Unix socket; undefined where nothing listens. */
  connectSocket?(
    path: string,
  ): Promise<Pick<Deno.Conn, "read" | "write" | "close"> | undefined>;
  /** Aborts when so much time has passed. */
  deadline(ms: number): AbortSignal;
  /** Adds to a file, made of mode 0600; rejects with `write_failed`. */
  appendFile(path: string, text: string): Promise<void>;
  /** Whether a path exists. */
  exists(path: string): boolean;
  /** Asks a person who sits at a terminal; false where nobody does. */
  ask?(question: string): boolean | Promise<boolean>;
  /** Resolves when the user interrupts (Ctrl-C). */
  interrupted(): Promise<void>;
}
