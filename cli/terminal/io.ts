/** All that the command line touches of the outside. @module */

/**
 * The outside, as one object: commands are tested as data, with what they were
 * given and what they said.
 */
export interface Io {
  /** Writes a result. */
  stdout(text: string): void;
  /** Writes everything but results. */
  stderr(text: string): void;
  /** Whether a stream is a terminal. */
  isTerminal(stream: "stdin" | "stdout" | "stderr"): boolean;
  /** Columns of the terminal that results go to; undefined if it is not a terminal. */
  columns?(): number | undefined;
  /** A variable of the environment, undefined when unset or not readable. */
  env(name: string): string | undefined;
  /** The clock. */
  now(): Date;
  /** All of standard input, at most so many bytes. */
  readStdin(maxBytes: number): Promise<Uint8Array>;
  /** A whole file; rejects with `source_not_found`, `document_too_large`. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Makes a file of mode 0600; rejects with `write_failed` if it is there. */
  createPrivateFile(
    path: string,
    text: string,
    options?: { readonly makeFolder?: boolean },
  ): Promise<void>;
  /** Writes a file of mode 0600 in the place of an old one, all or nothing. */
  replaceFile?(path: string, text: string): Promise<void>;
  /** Calls it at each SIGHUP, until what it returns is called. */
  onHangup?(work: () => void): () => void;
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
  /** Aborts when so much time has passed. */
  deadline(ms: number): AbortSignal;
  /** Adds to a file, made of mode 0600; rejects with `write_failed`. */
  appendFile(path: string, text: string): Promise<void>;
  /** Whether a path exists. */
  exists(path: string): boolean;
  /** Permission bits of a file such as 0o600, null where there are none. */
  fileMode(path: string): Promise<number | null>;
  /** Asks a person who sits at a terminal; false where nobody does. */
  ask?(question: string): boolean | Promise<boolean>;
  /** Resolves when the user interrupts (Ctrl-C). */
  interrupted(): Promise<void>;
  /** Resolves when the user or the system asks to stop. */
  stopRequested(): Promise<void>;
}
