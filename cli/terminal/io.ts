/** The interface between the command line and the system. @module */

import type { ProcessIo } from "@sig/api/program";

/** Access to the system as one object, which tests replace. */
export interface Io extends ProcessIo {
  /** Reads standard input to its end, at most `maxBytes`. */
  readStdin(maxBytes: number): Promise<Uint8Array>;
  /** Replaces a file atomically; its mode is 0600. */
  replaceFile(path: string, text: string): Promise<void>;
  /** Creates a folder of mode 0700 unless it exists; false if it can't. */
  makePrivateFolder(path: string): Promise<boolean>;
  /** Returns the names of a folder's files, sorted; undefined if it can't. */
  listFolder(path: string): Promise<readonly string[] | undefined>;
  /** Creates a file of mode 0644; rejects as `createPrivateFile`. */
  createFile(path: string, text: string): Promise<void>;
  /** Returns the absolute path, without resolving links. */
  absolutePath(path: string): string;
  /** Resolves the links of a path; the absolute path if it doesn't exist. */
  realPath(path: string): Promise<string>;
  /**
   * Runs a program without a shell, with `stdin` as its standard input, and
   * resolves to its exit code. Rejects with `invalid_request` if it can't be
   * started.
   */
  runProgram(words: readonly string[], stdin: string): Promise<number>;
  /** Connects to a Unix socket; undefined if no process listens. */
  connectSocket(
    path: string,
  ): Promise<Pick<Deno.Conn, "read" | "write" | "close"> | undefined>;
  /** Returns a signal that aborts after `ms` milliseconds. */
  deadline(ms: number): AbortSignal;
  /**
   * The cost of a guess at a passphrase with which a file is encrypted: the
   * exponent of scrypt's N (default: 18, as `age` does).
   */
  readonly passphraseCost?: number | undefined;
  /** Whether a path exists. */
  exists(path: string): boolean;
  /** Asks for confirmation on the terminal; false without a terminal. */
  ask(question: string): boolean | Promise<boolean>;
  /** Resolves when the user interrupts (Ctrl-C). */
  interrupted(): Promise<void>;
}
