/** Reads and writes files atomically. @module */

import {
  type ErrorCode,
  isSigError,
  SigError,
  type SigErrorOptions,
} from "@sig/core";
import { quote } from "@sig/core/internal";

/**
 * Reads a whole file of at most `maxBytes` bytes. Rejects a FIFO or device,
 * which would block or never end.
 *
 * @example
 * ```ts
 * import { readFile } from "@sig/api/program";
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
    if (info.isFile) throw tooLarge(maxBytes, path);
  } catch (cause) {
    if (isSigError(cause)) throw cause;
    const isNotGiven = cause instanceof Deno.errors.NotCapable;
    const hint = `Run it with --allow-read=${path}.`;
    const why = reasonOf(cause, NOT_READ, "reading it failed");
    throw unread("source_not_found", path, why, {
      cause,
      context: isNotGiven ? { hint } : {},
    });
  }
  throw unread("source_not_found", path, "it is not a file");
}

/**
 * Returns the `document_too_large` error of a file, or of standard input if
 * there is no path.
 *
 * @example
 * ```ts
 * import { tooLarge } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(tooLarge(100).context.limit, 100);
 * ```
 */
export function tooLarge(
  maxBytes: number,
  path?: string,
): SigError {
  const why = `it is larger than ${maxBytes} bytes`;
  const context = { limit: maxBytes };
  return unread("document_too_large", path, why, { context });
}

function unread(
  code: ErrorCode,
  path: string | undefined,
  why: string,
  options: Omit<SigErrorOptions, "reason"> = {},
): SigError {
  const what = path === undefined ? "standard input" : quote(path);
  return new SigError(code, {
    action: `read ${what}`,
    reason: why,
    ...options,
  });
}

/** Reasons by the names of Deno's errors. */
const NOT_READ = {
  NotFound: "there is no such file",
  NotCapable: "the program was not given permission to read it",
  PermissionDenied: "the system does not let this user read it",
};

/** Returns the reason for the error's name, or `otherwise`. */
export function reasonOf(
  error: unknown,
  reasons: { readonly [name: string]: string },
  otherwise: string,
): string {
  const name = error instanceof Error ? error.name : "";
  return Object.hasOwn(reasons, name) ? reasons[name]! : otherwise;
}

/**
 * Returns the password in a file: one line without its end; undefined for any
 * other text.
 *
 * @example
 * ```ts
 * import { decodeSecretLine } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * const bytes = new TextEncoder().encode("correct horse\n");
 * assertEquals(decodeSecretLine(bytes), "correct horse");
 * ```
 */
export function decodeSecretLine(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
      .replace(/\r?\n$/, "");
    return /^\P{Cc}+$/u.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the permission bits of a file, such as 0o600; null if there are none,
 * or the file can't be accessed.
 */
export async function fileMode(path: string): Promise<number | null> {
  const mode = (await Deno.stat(path).catch(() => undefined))?.mode ?? null;
  return mode === null ? null : mode & 0o777;
}

/**
 * Creates a file of mode 0600; never replaces one.
 *
 * @example
 * ```ts
 * import { createPrivateFile } from "@sig/api/program";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(() => createPrivateFile("no-such-folder/key", "…"));
 * ```
 *
 * @param options `makeFolder`: also create a missing folder, accessible only to
 * the user.
 * @throws {SigError} `write_failed`.
 */
export async function createPrivateFile(
  path: string,
  content: string | Uint8Array,
  options: { readonly makeFolder?: boolean } = {},
): Promise<void> {
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if (options.makeFolder && folder !== "") {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 })
      .catch((cause) => {
        throw unwritten(path, cause);
      });
  }
  await createFile(path, content, 0o600);
}

/**
 * Creates a file completely or not at all: half a key would prevent another
 * attempt. Never replaces a file.
 *
 * @example
 * ```ts
 * import { createFile } from "@sig/api/program";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(() => createFile("no-such-folder/list", "…", 0o644));
 * ```
 *
 * @param mode Its permission bits.
 * @throws {SigError} `write_failed`.
 */
export async function createFile(
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  try {
    await writeNew(path, content, mode);
    await flushFolderOf(path);
  } catch (cause) {
    throw unwritten(path, cause);
  }
}

/** Writes and flushes a new file; removes it if a step fails. */
async function writeNew(
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode });
  try {
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    for (let at = 0; at < bytes.length;) {
      at += await file.write(bytes.subarray(at));
    }
    await file.syncData();
  } catch (error) {
    await Deno.remove(path);
    throw error;
  }
}

/**
 * Replaces a file by one of mode 0600 atomically and durably: a reader finds
 * the old or the new content, also after a power failure.
 *
 * @example
 * ```ts
 * import { replaceFile } from "@sig/api/program";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(() => replaceFile("no-such-folder/list", "…"));
 * ```
 *
 * @throws {SigError} `write_failed`.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await writeNew(temporary, text, 0o600);
    await Deno.rename(temporary, path);
    await flushFolderOf(path);
  } catch (cause) {
    await Deno.remove(temporary).catch(() => {});
    throw unwritten(path, cause);
  }
}

/** Makes a new entry durable, if the program may read the folder. */
async function flushFolderOf(file: string): Promise<void> {
  const path = file.slice(0, file.lastIndexOf("/") + 1) || ".";
  const { state } = await Deno.permissions.query({ name: "read", path });
  if (state !== "granted") return;
  using folder = await Deno.open(path, { read: true });
  await folder.sync();
}

function unwritten(path: string, cause: unknown): SigError {
  const { AlreadyExists, NotCapable } = Deno.errors;
  const hint = cause instanceof AlreadyExists
    ? "Choose another name."
    : cause instanceof NotCapable
    ? `Run it with --allow-write=${path}.`
    : undefined;
  return new SigError("write_failed", {
    action: `write ${quote(path)}`,
    reason: whyNotWritten(cause),
    cause,
    ...(hint === undefined ? {} : { context: { hint } }),
  });
}

const NOT_WRITTEN = {
  AlreadyExists: "it exists already, and is not overwritten",
  NotCapable: "the program was not given permission to write it",
  NotFound: "its folder is missing",
  PermissionDenied: "the system does not let this user write there",
};

function whyNotWritten(error: unknown): string {
  const isFull = error instanceof Error && "code" in error &&
    error.code === "ENOSPC";
  return isFull
    ? "no space is left on the device"
    : reasonOf(error, NOT_WRITTEN, "the system refused it");
}
