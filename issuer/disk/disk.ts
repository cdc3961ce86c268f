/**
 * All access to the file system (POSIX), with system errors as `SigError`: this
 * file shows what is opened, with which permission bits, and that no link is
 * followed. The calls block, since a step takes some microseconds or is a flush
 * that the caller must wait for.
 *
 * @module
 */

import type * as nodeFs from "node:fs";
import { type ErrorCode, SigError } from "@sig/core";
import { loadBuiltin } from "@sig/jose/internal";
import { diskError } from "./disk_error.ts";

/** An entry of the file system; a symbolic link is not followed. */
export interface Entry {
  readonly kind: "file" | "directory" | "symlink" | "other";
  /** Size of a file in bytes. */
  readonly size: number;
  /** Permission bits, such as 0o600; null if the platform has none. */
  readonly mode: number | null;
  /** Changes when the entry is written or replaced. */
  readonly revision: string;
  /** Inode number of the entry. */
  readonly identity: string;
  /** Device number of its file system. */
  readonly device: number;
  /** User id of the owner; null if the platform has no owners. */
  readonly owner: number | null;
}

/**
 * Refuses the folder of an issuer where a folder can't be locked.
 *
 * @throws {SigError} `invalid_request`
 */
export function requireDeno(): void {
  if ("Deno" in globalThis) return;
  throw new SigError("invalid_request", {
    action: "use folder",
    reason:
      "an issuer in a folder needs Deno, since Node can't lock files (flock)",
    context: { hint: "In Node, use createMemoryStore, or your own store." },
  });
}

/**
 * Runs an operation on a path; turns a system error into a `SigError`.
 *
 * @param expected an error that is a result, and the result to return.
 */
function attempt<T>(
  code: ErrorCode,
  action: string,
  path: string,
  work: () => T,
  expected?: readonly [kind: new () => Error, answer: T],
): T {
  try {
    return work();
  } catch (error) {
    if (expected && error instanceof expected[0]) return expected[1];
    throw diskError(code, action, path, error);
  }
}

/** Runs a read of metadata; returns undefined if the path does not exist. */
function readEntry<T>(path: string, work: () => T): T | undefined {
  const { NotFound } = Deno.errors;
  const absent = [NotFound, undefined] as const;
  return attempt<T | undefined>(
    "store_unavailable",
    "look at",
    path,
    work,
    absent,
  );
}

/** Returns the entry at a path, or undefined if the path does not exist. */
export function look(path: string): Entry | undefined {
  return readEntry(path, () => toEntry(Deno.lstatSync(path)));
}

function toEntry(info: Deno.FileInfo): Entry {
  const { ctime, ino, mtime, size } = info;
  const kind = info.isSymlink
    ? "symlink"
    : info.isFile
    ? "file"
    : info.isDirectory
    ? "directory"
    : "other";
  return {
    kind,
    size,
    revision: `${ino}:${size}:${mtime?.getTime()}:${ctime?.getTime()}`,
    mode: info.mode === null ? null : info.mode & 0o777,
    identity: String(ino),
    device: info.dev,
    owner: info.uid,
  };
}

/** Node's functions, because Deno's can't open a file without blocking. */
function loadFs(): typeof nodeFs {
  return loadBuiltin("node:fs") as typeof nodeFs;
}

/** Refuses anything but a directory (`invalid_metadata`). */
export function requireFolder(path: string, entry: Entry | undefined): void {
  if (entry?.kind === "directory") return;
  throw new SigError("invalid_metadata", {
    action: `use ${JSON.stringify(path)}`,
    reason: "it must be a directory",
    context: { path },
  });
}

/** Resolves symbolic links; returns undefined if the path does not exist. */
export function resolvePath(path: string): string | undefined {
  return readEntry(path, () => Deno.realPathSync(path));
}

/**
 * Creates a directory unless it exists.
 *
 * @param flush called with the parent directory (default: makes it durable).
 */
export function makeDirectory(
  path: string,
  mode = 0o755,
  flush: (parent: string) => void = syncDirectory,
): void {
  const make = () => {
    Deno.mkdirSync(path, { mode });
    return true;
  };
  const exists = [Deno.errors.AlreadyExists, false] as const;
  const action = "create the directory";
  const isMade = attempt("write_failed", action, path, make, exists);
  if (isMade) flush(parentOf(path));
}

/** Makes created, renamed and removed entries of a directory durable. */
export function syncDirectory(path: string): void {
  const fs = loadFs();
  const { O_DIRECTORY, O_NONBLOCK, O_RDONLY } = fs.constants;
  attempt("write_failed", "make durable", path, () => {
    const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  });
}

const MAX_FLUSHING = 64;

/**
 * Makes files and directories durable, many concurrently: a file system commits
 * concurrent flushes together, so a hundred cost as much as two.
 */
export async function syncAll(paths: Iterable<string>): Promise<void> {
  const fs = loadFs();
  // Only the flush waits for the disk, so only the flush is asynchronous.
  const flush = async (path: string) => {
    let fd: number | undefined;
    try {
      const opened = fd = fs.openSync(path, "r");
      await new Promise<void>((resolve, reject) =>
        fs.fsync(opened, (error) => error ? reject(error) : resolve())
      );
    } catch (error) {
      throw diskError("write_failed", "make durable", path, error);
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
  };
  const all = [...paths];
  for (let at = 0; at < all.length; at += MAX_FLUSHING) {
    const some = all.slice(at, at + MAX_FLUSHING).map(flush);
    for (const each of await Promise.allSettled(some)) {
      if (each.status === "rejected") throw each.reason;
    }
  }
}

/**
 * Returns all bytes of the plain file at a path, or undefined if the path names
 * something else or the file has more bytes. Checks the opened file, follows no
 * link and does not wait for a FIFO.
 */
export function readPlainFile(
  path: string,
  maxBytes: number,
): Uint8Array<ArrayBuffer> | undefined {
  const fs = loadFs();
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const opened = fs.fstatSync(fd, { bigint: true });
    // With permission for some folders only, Deno follows links before opening.
    const named = fs.lstatSync(path, { bigint: true });
    const isSame = named.ino === opened.ino && named.dev === opened.dev;
    if (!isSame || !opened.isFile() || opened.size > maxBytes) return undefined;
    const bytes = new Uint8Array(Number(opened.size));
    let filled = 0;
    while (filled < bytes.length) {
      const rest = bytes.length - filled;
      const count = fs.readSync(fd, bytes, filled, rest, filled);
      if (count === 0) break;
      filled += count;
    }
    return filled === bytes.length ? bytes : bytes.subarray(0, filled);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ELOOP") {
      return undefined;
    }
    throw diskError("store_unavailable", "read", path, error);
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

export function parentOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end < 0 ? "." : end === 0 ? "/" : path.slice(0, end);
}

/** Creates a hard link; returns false if the name exists. */
export function linkFile(from: string, to: string): boolean {
  const link = () => {
    Deno.linkSync(from, to);
    return true;
  };
  const exists = [Deno.errors.AlreadyExists, false] as const;
  return attempt("write_failed", "create", to, link, exists);
}

/** Moves a file to a path in one step, and replaces a file that is there. */
export function renameFile(from: string, to: string): void {
  attempt("write_failed", "replace", to, () => Deno.renameSync(from, to));
}

/** Removes a file, if it exists. */
export function removeFile(path: string): void {
  const remove = () => Deno.removeSync(path);
  const absent = [Deno.errors.NotFound, undefined] as const;
  attempt("write_failed", "remove", path, remove, absent);
}

export function setMode(path: string, mode: number): void {
  const action = "set the permissions of";
  attempt("write_failed", action, path, () => Deno.chmodSync(path, mode));
}

/**
 * Opens a file for writing. The path may have been replaced since it was last
 * read, so check the opened file. With `read`, opening a FIFO does not block.
 */
export function openFile(path: string, options: Deno.OpenOptions): DiskFile {
  const writes = options.write === true || options.append === true;
  const code = writes ? "write_failed" : "store_unavailable";
  const open = () => new DiskFile(path, Deno.openSync(path, options));
  return attempt(code, "open", path, open);
}

/** Opens a file unless another process has made or removed it. */
export function tryOpenFile(
  path: string,
  options: Deno.OpenOptions,
): DiskFile | undefined {
  try {
    return openFile(path, options);
  } catch (error) {
    const { AlreadyExists, NotFound } = Deno.errors;
    const { cause } = error as SigError;
    if (cause instanceof AlreadyExists || cause instanceof NotFound) return;
    throw error;
  }
}

export class DiskFile {
  readonly #path: string;
  readonly #file: Deno.FsFile;
  /** The entry when it was first read after opening. */
  #first: Entry | undefined;

  constructor(path: string, file: Deno.FsFile) {
    this.#path = path;
    this.#file = file;
  }

  /** Returns the entry of the open file, which may no longer be at its path. */
  look(): Entry {
    const stat = () => toEntry(this.#file.statSync());
    const entry = attempt("store_unavailable", "look at", this.#path, stat);
    this.#first ??= entry;
    return entry;
  }

  /**
   * Returns whether the path still names this file, with the same permission
   * bits. The open file is read only once, since it can't become another.
   */
  isOpenOf(path: string, entry: Entry | undefined): boolean {
    if (entry === undefined || path !== this.#path) return false;
    const own = this.#first ?? this.look();
    return entry.kind === "file" && entry.identity === own.identity &&
      entry.device === own.device && entry.mode === own.mode &&
      entry.owner === own.owner;
  }

  /** Takes the file's lock; returns false if another process holds it. */
  tryLock(): boolean {
    return this.#change("lock", () => this.#file.tryLockSync(true));
  }

  /** Releases the lock; returns false if only closing would release it. */
  unlock(): boolean {
    try {
      this.#file.unlockSync();
      return true;
    } catch {
      return false;
    }
  }

  /** Reads bytes from an offset on; fewer only at the end of the file. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    attempt("store_unavailable", "read", this.#path, () => {
      this.#file.seekSync(offset, Deno.SeekMode.Start);
      while (filled < length) {
        const count = this.#file.readSync(bytes.subarray(filled));
        if (count === null) break;
        filled += count;
      }
    });
    return filled === length ? bytes : bytes.subarray(0, filled);
  }

  /** Writes at least one of the bytes; returns the number written. */
  writeSome(bytes: Uint8Array): number {
    const count = this.#change("write", () => this.#file.writeSync(bytes));
    // A result of 0 would make the caller's loop endless.
    if (count < 1) {
      throw diskError("write_failed", "write", this.#path, undefined);
    }
    return count;
  }

  writeAll(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      done += this.writeSome(bytes.subarray(done));
    }
  }

  truncate(size: number): void {
    this.#change("cut", () => this.#file.truncateSync(size));
  }

  /** Makes contents and size durable. Must not be retried after a failure. */
  syncData(): void {
    this.#change("make durable", () => this.#file.syncDataSync());
  }

  /** Like {@linkcode DiskFile.syncData}, for all metadata as well. */
  sync(): void {
    this.#change("make durable", () => this.#file.syncSync());
  }

  /** Closes the file, which releases its lock. */
  close(): void {
    this.#file.close();
  }

  #change<T>(action: string, work: () => T): T {
    return attempt("write_failed", action, this.#path, work);
  }
}
