/** A process's access to the outside: streams, signals, variables. @module */

import { quote } from "@sig/core/internal";
import { createPrivateFile, fileMode, readFile } from "./files.ts";
import type { Variables } from "./settings.ts";

/**
 * Delay before writing again to a stream that is not ready, in milliseconds.
 */
const PAUSE_MS = 5;

/**
 * Writes all of a text before it returns. A closed reader, as in `sig log … |
 * head`, is not an error. Waits for a slow reader, even if another process has
 * made the stream non-blocking.
 *
 * @example
 * ```ts
 * import { writeAll } from "@sig/api/program";
 *
 * writeAll(Deno.stderr, "ready\n");
 * ```
 *
 * @throws {Error} of the name `OutputFailed`, for a full disk and the like: it
 * must not look like an error of the command.
 */
export function writeAll(
  writer: { writeSync(bytes: Uint8Array): number },
  text: string,
): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writer.writeSync(bytes.subarray(at));
    } catch (cause) {
      if (cause instanceof Deno.errors.BrokenPipe) return;
      if (!(cause instanceof Deno.errors.WouldBlock)) {
        const error = new Error("the output can't be written", { cause });
        throw Object.assign(error, { name: "OutputFailed" });
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

/**
 * Returns the columns of the terminal of standard output; undefined if it is
 * not a terminal, or its width is unknown.
 */
function terminalColumns(): number | undefined {
  // The value is 0 for a terminal without a known width.
  return Deno.stdout.isTerminal() && Deno.consoleSize().columns || undefined;
}

/**
 * Resolves at the first of some signals (default: those by which the user or
 * the system stops a process; Windows has no SIGTERM).
 *
 * @example
 * ```ts
 * import { signalled } from "@sig/api/program";
 *
 * async function untilStopped(shutdown: () => Promise<void>): Promise<void> {
 *   await signalled();
 *   await shutdown();
 * }
 * ```
 */
export function signalled(
  signals: readonly Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT"]
    : ["SIGINT", "SIGTERM"],
): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      Deno.addSignalListener(signal, () => resolve());
    }
  });
}

/**
 * Calls a function whenever the system asks a server to reload its files
 * (SIGHUP; ignored on Windows). The returned function ends that.
 *
 * @example
 * ```ts
 * import { onHangup } from "@sig/api/program";
 *
 * const stop = onHangup(() => console.log("reading again"));
 * stop();
 * ```
 */
export function onHangup(work: () => void): () => void {
  if (Deno.build.os === "windows") return () => {};
  Deno.addSignalListener("SIGHUP", work);
  return () => Deno.removeSignalListener("SIGHUP", work);
}

/**
 * Returns an environment variable; undefined if it is unset, empty or may not
 * be read: a server without permissions runs with its defaults.
 *
 * @example
 * ```ts
 * import { readVariable } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readVariable("SIG_NO_SUCH_VARIABLE"), undefined);
 * ```
 */
export function readVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name) || undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/**
 * Returns all environment variables if they may be listed, otherwise the known
 * ones that may be read. Never prompts for a permission.
 */
export function readVariables(known: readonly string[]): Variables {
  const isGranted = (wanted: Deno.EnvPermissionDescriptor) =>
    Deno.permissions.querySync(wanted).state === "granted";
  if (isGranted({ name: "env" })) {
    return { values: Deno.env.toObject(), looked: "all" };
  }
  const names = known.filter((variable) =>
    isGranted({ name: "env", variable })
  );
  return {
    values: Object.fromEntries(
      names.map((name) => [name, Deno.env.get(name) ?? ""]),
    ),
    looked: names.length > 0 ? "known" : "none",
  };
}

/** A folder, or the reason why there is none. */
export type DataFolder =
  | { readonly folder: string }
  | { readonly folder?: undefined; readonly why: string };

/** Absolute paths, including those of Windows. */
const ABSOLUTE = /^(?:\/|\\\\|[A-Za-z]:[\\/])/;

/**
 * Returns the folder `sig` in the user's data directory (XDG base directory
 * specification). Never uses a path relative to the working directory: a later
 * start would not find it, and a private key could be published with the files
 * around it.
 *
 * @example
 * ```ts
 * import { dataFolder } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * const env = { HOME: "/home/ada" };
 * assertEquals(dataFolder((name) => env[name as "HOME"]), {
 *   folder: "/home/ada/.local/share/sig",
 * });
 * ```
 *
 * @param env Returns an environment variable.
 */
export function dataFolder(
  env: (name: string) => string | undefined,
): DataFolder {
  const data = env("XDG_DATA_HOME");
  // The specification says to ignore a relative path.
  if (data?.startsWith("/")) return { folder: `${data}/sig` };
  const home = env("HOME");
  if (home === undefined || home === "") {
    return { why: "there is no HOME (or it may not be read)" };
  }
  return ABSOLUTE.test(home)
    ? { folder: `${home}/.local/share/sig` }
    : { why: `HOME is ${quote(home)}, which is not an absolute path` };
}

/** Waits for a time, or until the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}

/** A process's access to the outside as one object, which tests replace. */
export interface ProcessIo {
  /** Writes a result to standard output. */
  stdout(text: string): void;
  /** Writes a message, which is not a result, to standard error. */
  stderr(text: string): void;
  /** Returns whether a stream is a terminal. */
  isTerminal(stream: "stdin" | "stdout" | "stderr"): boolean;
  /**
   * Returns the columns of the terminal of standard output; undefined if
   * unknown.
   */
  columns(): number | undefined;
  /** Returns the current time. */
  now(): Date;
  /** Returns an environment variable; undefined if unset or not readable. */
  env(name: string): string | undefined;
  /**
   * Reads a whole file; rejects with `source_not_found`, `document_too_large`.
   */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Creates a file of mode 0600; rejects with `write_failed` if it exists. */
  createPrivateFile(
    path: string,
    content: string | Uint8Array,
    options?: { readonly makeFolder?: boolean },
  ): Promise<void>;
  /**
   * Returns the permission bits of a file such as 0o600; null if there are
   * none.
   */
  fileMode(path: string): Promise<number | null>;
  /** Calls a function at each SIGHUP, until the returned function is called. */
  onHangup(work: () => void): () => void;
  /** Resolves when the user or the system stops the process. */
  stopRequested(): Promise<void>;
}

/**
 * Creates the real {@linkcode ProcessIo}. A second signal has no effect: Ctrl-C
 * reaches a process more than once if a package runner forwards it, and
 * requests in flight have a time limit anyway.
 *
 * @example
 * ```ts
 * import { createProcessIo } from "@sig/api/program";
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
