/** The outside as Deno gives it. @module */

import type { ErrorCode, SigError, SigErrorOptions } from "@sig/core";
import type { Io } from "./io.ts";

/** Makes the real {@linkcode Io} of a process. */
export function createDenoIo(): Io {
  return {
    stdout: (text) => writeAll(Deno.stdout, text),
    stderr: (text) => writeAll(Deno.stderr, text),
    log: async (text) => (await import("@sig/api/http")).writeLog(text),
    isTerminal: (stream) => Deno[stream].isTerminal(),
    columns: () =>
      Deno.stdout.isTerminal() ? Deno.consoleSize().columns : undefined,
    env: readVariable,
    now: () => new Date(),
    readStdin: (maxBytes) => readStream(Deno.stdin.readable, maxBytes),
    readFile,
    createPrivateFile,
    exists: (path) => {
      try {
        Deno.statSync(path);
        return true;
      } catch {
        return false;
      }
    },
    serve: async (address, respond) =>
      (await import("@sig/api/http")).listen(address, respond),
    fileMode,
    ask: (question) => Deno.stdin.isTerminal() && confirm(question),
    interrupted: () => signalled(["SIGINT"]),
    stopRequested: () =>
      signalled(
        Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"],
      ),
  };
}

/** Core is loaded when something failed: `sig --version` starts without it. */
async function ioError(
  code: ErrorCode,
  message: string,
  options: SigErrorOptions = {},
): Promise<SigError> {
  const { SigError } = await import("@sig/core");
  return new SigError(code, message, options);
}

type Writer = { writeSync(bytes: Uint8Array): number };

function writeAll(writer: Writer, text: string): void {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) {
      at += writer.writeSync(bytes.subarray(at));
    }
  } catch (error) {
    // Whoever read this has gone, as in `sig log … | head`.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** One by one, so that `--allow-env=NAME,…` is enough. */
function readVariable(name: string): string | undefined {
  // Known to the runtime without a permission.
  if (name === "NO_COLOR") return Deno.noColor ? "1" : undefined;
  try {
    const value = Deno.env.get(name);
    return value === "" ? undefined : value;
  } catch {
    return undefined;
  }
}

function tooLarge(what: string, maxBytes: number): Promise<SigError> {
  return ioError(
    "document_too_large",
    `Cannot read ${what}: it is larger than ${maxBytes} bytes`,
    { context: { limit: maxBytes } },
  );
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) throw await tooLarge("standard input", maxBytes);
    chunks.push(chunk.slice());
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

async function readFile(path: string, maxBytes: number): Promise<Uint8Array> {
  const shown = JSON.stringify(path);
  try {
    const info = await Deno.stat(path);
    // A FIFO or device would block, or never end.
    if (!info.isFile) throw await notFound(shown, "it is not a file");
    if (info.size > maxBytes) throw await tooLarge(shown, maxBytes);
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw await notFound(shown, "there is no such file", error);
    }
    if (error instanceof Deno.errors.NotCapable) {
      throw await ioError(
        "source_not_found",
        `Cannot read ${shown}: the program was not given permission to read it`,
        {
          cause: error,
          context: { hint: `Run it with --allow-read=${path}.` },
        },
      );
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      const why = "the system does not let this user read it";
      throw await notFound(shown, why, error);
    }
    if (error instanceof Error && error.name === "SigError") throw error;
    throw await notFound(shown, "reading it failed", error);
  }
}

function notFound(
  shown: string,
  why: string,
  cause?: unknown,
): Promise<SigError> {
  return ioError("source_not_found", `Cannot read ${shown}: ${why}`, {
    cause,
  });
}

async function createPrivateFile(path: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(path, text, { createNew: true, mode: 0o600 });
  } catch (cause) {
    const isNotGiven = cause instanceof Deno.errors.NotCapable;
    const hint = `Run it with --allow-write=${path}.`;
    throw await ioError(
      "write_failed",
      `Cannot write ${JSON.stringify(path)}: ${whyNotWritten(cause)}`,
      { cause, ...(isNotGiven ? { context: { hint } } : {}) },
    );
  }
}

function whyNotWritten(error: unknown): string {
  const { AlreadyExists, NotCapable, NotFound, PermissionDenied } = Deno.errors;
  if (error instanceof AlreadyExists) {
    return "it exists already, and is not overwritten";
  }
  if (error instanceof NotCapable) {
    return "the program was not given permission to write it";
  }
  if (error instanceof NotFound) return "its folder is missing";
  if (error instanceof PermissionDenied) {
    return "the system does not let this user write there";
  }
  return "the system refused it";
}

async function fileMode(path: string): Promise<number | null> {
  const mode = (await Deno.stat(path).catch(() => undefined))?.mode ?? null;
  return mode === null ? null : mode & 0o777;
}

function signalled(signals: readonly Deno.Signal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      Deno.addSignalListener(signal, () => resolve());
    }
  });
}
