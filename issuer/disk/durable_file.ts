/** Writes files so that a crash leaves the old or the new one. @module */

import { SigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import {
  linkFile,
  look,
  openFile,
  parentOf,
  readPlainFile,
  removeFile,
  renameFile,
  setMode,
  syncDirectory,
} from "./disk.ts";

export interface DurableOptions {
  /** Exact permission bits of a new file (default: 0o644 minus the umask). */
  readonly mode?: number;
  /** Called between the steps. */
  readonly onStep?: (step: "temp-written" | "renamed" | "created") => void;
}

/** A new version of a file, under a temporary name. */
interface PreparedFile {
  readonly temporary: string;
  /** Renames it to its final path; the caller flushes the directory. */
  rename(): void;
}

/**
 * Writes the new version of a file under a temporary name in the same
 * directory. The caller flushes and renames it and flushes the directory
 * (docs/protocol.md §11). The permission bits of the replaced file are kept.
 * Callers exclude each other by the store's lock.
 *
 * @throws {SigError} `write_failed`
 */
export function prepareFile(
  path: string,
  bytes: Uint8Array,
  { mode, onStep }: DurableOptions,
): PreparedFile {
  const temporary = temporaryName(path);
  const before = look(path);
  if (before !== undefined) requirePlainFile(path, before.kind);
  // Keep the bits, except that a published file is never writable by everyone.
  const kept = before?.mode === undefined || before.mode === null
    ? undefined
    : before.mode & ~0o002;
  writeNew(temporary, bytes, mode ?? kept);
  onStep?.("temp-written");
  return {
    temporary,
    rename() {
      renameFile(temporary, path);
      onStep?.("renamed");
    },
  };
}

/** Removes a file, and its temporary file left by a crash. */
export function removeReplaced(path: string): void {
  removeFile(path);
  removeFile(temporaryName(path));
}

/** Returns whether a plain file has exactly these bytes. */
export function hasBytes(path: string, bytes: Uint8Array): boolean {
  const entry = look(path);
  if (entry === undefined) return false;
  requirePlainFile(path, entry.kind);
  if (entry.size !== bytes.length) return false;
  const found = readPlainFile(path, bytes.length);
  return found !== undefined && sameBytes(found, bytes);
}

/**
 * Creates a file; returns false and changes nothing if it exists. The file is
 * never visible incomplete, and is durable when this returns true.
 *
 * @throws {SigError} `write_failed`
 */
export function createDurably(
  path: string,
  bytes: Uint8Array,
  options: DurableOptions = {},
): boolean {
  if (look(path) !== undefined) return false;
  // A name for each process, because creators hold no common lock.
  const temporary = temporaryName(path, `${crypto.randomUUID()}.`);
  writeNew(temporary, bytes, options.mode, { flush: true });
  options.onStep?.("temp-written");
  try {
    // Unlike a rename, a link never replaces a file made by another process.
    if (!linkFile(temporary, path)) return false;
  } finally {
    removeFile(temporary);
  }
  options.onStep?.("created");
  syncDirectory(parentOf(path));
  return true;
}

/**
 * Returns a complete file, or undefined if it does not exist.
 *
 * @throws {SigError} `invalid_metadata` for anything but a plain file (a
 * symbolic link, FIFO or directory), `document_too_large`, `store_unavailable`
 */
export function readWhole(
  path: string,
  maxBytes: number,
): Uint8Array<ArrayBuffer> | undefined {
  const entry = look(path);
  if (entry === undefined) return undefined;
  requirePlainFile(path, entry.kind);
  if (entry.size > maxBytes) throw tooLarge(path, entry.size, maxBytes);
  const bytes = readPlainFile(path, maxBytes);
  if (bytes !== undefined) return bytes;
  throw new SigError("store_unavailable", {
    action: `read ${JSON.stringify(path)}`,
    reason: "it was replaced while it was opened",
    context: { path, hint: "Try again." },
  });
}

/** Returns the error for a file with more bytes than the limit. */
export function tooLarge(path: string, bytes: number, limit: number): SigError {
  return new SigError("document_too_large", {
    action: `read ${JSON.stringify(path)}`,
    reason: `it has ${bytes} bytes (at most ${limit})`,
    context: { path, limit },
  });
}

/** Refuses all but plain files, so no link is followed and no read blocks. */
export function requirePlainFile(path: string, kind: string): void {
  if (kind === "file") return;
  throw new SigError("invalid_metadata", {
    action: `use ${JSON.stringify(path)}`,
    reason: "it must be a plain file (no symbolic link, FIFO or directory)",
    context: { path, kind },
  });
}

/** In the same directory: a rename or link can't cross file systems. */
function temporaryName(path: string, unique = ""): string {
  const at = path.lastIndexOf("/") + 1;
  return `${path.slice(0, at)}.${path.slice(at)}.${unique}tmp`;
}

function writeNew(
  path: string,
  bytes: Uint8Array,
  mode: number | undefined,
  { flush = false } = {},
): void {
  removeFile(path);
  const file = openFile(path, {
    write: true,
    createNew: true,
    // Deno's default is writable by everyone under umask 000.
    mode: mode ?? 0o644,
  });
  try {
    file.writeAll(bytes);
    if (flush) file.sync();
  } catch (error) {
    // An incomplete file is useless and may fill the disk.
    discard(path);
    throw error;
  } finally {
    file.close();
  }
  // The process's umask may have removed bits.
  if (mode !== undefined && look(path)?.mode !== mode) setMode(path, mode);
}

/** Removes a file that an earlier error has made useless. */
export function discard(path: string): void {
  try {
    removeFile(path);
  } catch {
    // Report the earlier error instead.
  }
}

/**
 * Fault injection for tests, never needed in production. A hook may throw (the
 * step fails) or end the process (a crash at that step).
 */
export interface FaultHooks {
  /**
   * Called after a step: `locked`, `recovered`, `wrote-part`, `written`,
   * `synced`, `indexed`, `torn-kept`, `key-stored`, and `temp-written <path>`,
   * `renamed <path>`, `created <path>` of the documents.
   */
  readonly onStep?: (step: string) => void;
  /** Maximum bytes per write to the feed (default: no limit). */
  readonly maxWriteBytes?: number;
}
