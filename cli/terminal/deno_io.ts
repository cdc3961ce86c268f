/** The outside as Deno gives it. @module */

import {
  readFile,
  readVariable,
  signalled,
  tooLarge,
  writeAll,
} from "@sig/api/process";
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
    // NO_COLOR is known to the runtime without a permission.
    env: (name) =>
      name === "NO_COLOR"
        ? (Deno.noColor ? "1" : undefined)
        : readVariable(name),
    now: () => new Date(),
    readStdin: (maxBytes) => readStream(Deno.stdin.readable, maxBytes),
    readFile,
    createPrivateFile: (path, text) => write(path, text, "createNew"),
    appendFile: (path, text) => write(path, text, "append"),
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
    stopRequested: () => signalled(),
  };
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) throw await tooLarge(maxBytes);
    chunks.push(chunk.slice());
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/**
 * What is new is for its owner only. All of the text or nothing of it: half a
 * row would spoil a file, and half a key would stand in the way of a whole one.
 */
async function write(
  path: string,
  text: string,
  how: "createNew" | "append",
): Promise<void> {
  try {
    const isNew = how === "createNew";
    const options = { append: true, mode: 0o600 };
    using file = await Deno.open(
      path,
      isNew ? { ...options, createNew: true } : { ...options, create: true },
    );
    // Asking for the size would need the permission to read.
    const size = await file.seek(0, Deno.SeekMode.End);
    try {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) {
        at += await file.write(bytes.subarray(at));
      }
      await file.syncData();
    } catch (error) {
      if (isNew) await Deno.remove(path);
      else await file.truncate(size);
      throw error;
    }
  } catch (cause) {
    const isNotGiven = cause instanceof Deno.errors.NotCapable;
    const hint = `Run it with --allow-write=${path}.`;
    const { SigError } = await import("@sig/core");
    throw new SigError(
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
  if (error instanceof Error && "code" in error && error.code === "ENOSPC") {
    return "no space is left on the device";
  }
  return "the system refused it";
}

async function fileMode(path: string): Promise<number | null> {
  const mode = (await Deno.stat(path).catch(() => undefined))?.mode ?? null;
  return mode === null ? null : mode & 0o777;
}
