/**
 * The streams, files and signals of a process, for servers and command lines
 * alike. Loads nothing: what an error is made of comes when there is one, so that
 * `sig --version` starts without it.
 *
 * @example A variable that may be missing, or not be readable
 * ```ts
 * import { readVariable } from "@sig/api/process";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readVariable("SIG_NO_SUCH_VARIABLE"), undefined);
 * ```
 *
 * @module
 */

import type { ErrorCode, SigError, SigErrorOptions } from "@sig/core";

export { readVariable } from "./read_variable.ts";
export {
  type CreateFileOptions,
  createPrivateFile,
  replaceFile,
  writeFile,
  type WriteFileOptions,
} from "./write_file.ts";

/** Milliseconds between two looks at a stream that takes nothing just now. */
const PAUSE_MS = 5;

/**
 * Writes all of a text before it returns. A reader that has gone, as in
 * `sig log … | head`, is no error; one that is slow is waited for, also where
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
 * must not look like a fault of what was to be said.
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
 *
 * @example
 * ```ts
 * import { terminalColumns } from "@sig/api/process";
 *
 * const width = terminalColumns() ?? 80;
 * ```
 */
export function terminalColumns(): number | undefined {
  // 0 is that of a terminal whose width nobody has set.
  return Deno.stdout.isTerminal() && Deno.consoleSize().columns || undefined;
}

/**
 * A whole file of at most `maxBytes` bytes; no FIFO or device, which would block
 * or never end.
 *
 * @example
 * ```ts
 * import { readFile } from "@sig/api/process";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(() => readFile("no-such-file", 100));
 * ```
 *
 * @throws {SigError} `source_not_found`, `document_too_large` with `limit`.
 */
export async function readFile(
  path: string,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const info = await Deno.stat(path);
    if (info.isFile && info.size <= maxBytes) return await Deno.readFile(path);
    if (info.isFile) throw await tooLarge(maxBytes, path);
  } catch (cause) {
    if (cause instanceof Error && cause.name === "SigError") throw cause;
    const isNotGiven = cause instanceof Deno.errors.NotCapable;
    const hint = `Run it with --allow-read=${path}.`;
    throw await unread("source_not_found", path, whyNotRead(cause), {
      cause,
      context: isNotGiven ? { hint } : {},
    });
  }
  throw await unread("source_not_found", path, "it is not a file");
}

/**
 * The `document_too_large` of a file, or of standard input where there is no
 * path.
 *
 * @example
 * ```ts
 * import { tooLarge } from "@sig/api/process";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals((await tooLarge(100)).context.limit, 100);
 * ```
 */
export async function tooLarge(
  maxBytes: number,
  path?: string,
): Promise<SigError> {
  const why = `it is larger than ${maxBytes} bytes`;
  const context = { limit: maxBytes };
  return await unread("document_too_large", path, why, { context });
}

async function unread(
  code: ErrorCode,
  path: string | undefined,
  why: string,
  options: SigErrorOptions = {},
): Promise<SigError> {
  const { quote, SigError } = await import("@sig/core");
  const what = path === undefined ? "standard input" : quote(path);
  return new SigError(code, `Cannot read ${what}: ${why}`, options);
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

/**
 * Resolves with the first of some signals; unless told, those by which the user
 * or the system asks a process to stop (Windows has no SIGTERM).
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
 * Whether others than the owner may open a file, by its mode; false where there
 * are no modes, or it can't be looked at.
 *
 * @example
 * ```ts
 * import { isOpenToOthers } from "@sig/api/process";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await isOpenToOthers("no-such-file"), false);
 * ```
 */
export async function isOpenToOthers(path: string): Promise<boolean> {
  const mode = (await Deno.stat(path).catch(() => undefined))?.mode ?? 0;
  return (mode & 0o077) !== 0;
}
