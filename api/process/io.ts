/** All that a process of this project touches of the outside: streams, signals, variables. @module */

import { quote } from "@sig/core/internal";
import { createPrivateFile, fileMode, readFile } from "./files.ts";
import type { Variables } from "./settings.ts";

/** Milliseconds until a stream that takes nothing just now is tried again. */
const PAUSE_MS = 5;

/**
 * Writes all of a text before it returns. A reader that has gone, as in
 * `sig log … | head`, is not an error; a slow one is waited for, also where
 * another process has made the stream non-blocking.
 *
 * @example
 * ```ts
 * import { writeAll } from "@sig/api/process";
 *
 * writeAll(Deno.stderr, "ready\n");
 * ```
 *
 * @throws {Error} of the name `OutputFailed`, for a full disk and the like: it
 * must not look like an error of the command that writes.
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
 * Columns of the terminal that standard output goes to; undefined where it goes
 * elsewhere, or nobody has said how wide the terminal is.
 */
function terminalColumns(): number | undefined {
  // 0 is that of a terminal whose width nobody has set.
  return Deno.stdout.isTerminal() && Deno.consoleSize().columns || undefined;
}

/**
 * Resolves with the first of some signals (default: those by which the user or
 * the system asks a process to stop; Windows has no SIGTERM).
 *
 * @example
 * ```ts
 * import { signalled } from "@sig/api/process";
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
 * Does something whenever the system asks a server to read its files again
 * (SIGHUP; Windows has none). What is returned ends that.
 *
 * @example
 * ```ts
 * import { onHangup } from "@sig/api/process";
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
 * A variable, undefined when it is unset, empty or may not be read: a server
 * that is given no permissions runs on its defaults.
 *
 * @example
 * ```ts
 * import { readVariable } from "@sig/api/process";
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
 * All variables of the environment where it may be listed, else those of the
 * known names that may be read. Asks nobody for a permission.
 *
 * @example
 * ```ts
 * import { readVariables } from "@sig/api/process";
 * import { assertEquals } from "@std/assert";
 *
 * const { values } = readVariables(["SIG_NO_SUCH_VARIABLE"]);
 * assertEquals(values.SIG_NO_SUCH_VARIABLE, undefined);
 * ```
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

/** Of Windows, too. */
const ABSOLUTE = /^(?:\/|\\\\|[A-Za-z]:[\\/])/;

/**
 * The folder `sig` of the user's data directory (XDG base directory
 * specification). A place below the working directory is not used:
 * another start would find nothing there, and a private key could get into what
 * is published.
 *
 * @example
 * ```ts
 * import { dataFolder } from "@sig/api/process";
 * import { assertEquals } from "@std/assert";
 *
 * const env = { HOME: "/home/ada" };
 * assertEquals(dataFolder((name) => env[name as "HOME"]), {
 *   folder: "/home/ada/.local/share/sig",
 * });
 * ```
 *
 * @param env Reads a variable of the environment.
 */
export function dataFolder(
  env: (name: string) => string | undefined,
): DataFolder {
  const data = env("XDG_DATA_HOME");
  // A relative one is to be ignored, says that specification.
  if (data?.startsWith("/")) return { folder: `${data}/sig` };
  const home = env("HOME");
  if (home === undefined || home === "") {
    return { why: "there is no HOME (or it may not be read)" };
  }
  return ABSOLUTE.test(home)
    ? { folder: `${home}/.local/share/sig` }
    : { why: `HOME is ${quote(home)}, which is not an absolute path` };
}

/** Waits so long, or until the signal aborts. */
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
