/**
 * Every access to the file system, in one place: small blocking calls that turn
 * what the system answers into a `SigError`. POSIX file systems are assumed.
 *
 * Blocking, because a step is either some microseconds long or a flush that the
 * caller must wait for before it may do anything else.
 *
 * Long because nothing else may touch the disk: one file shows what is
 * opened, with which bits, and that no link is followed.
 *
 * @module
 */

import type * as nodeFs from "node:fs";
import { type ErrorCode, SigError } from "@sig/core";
import { loadBuiltin } from "@sig/jose/internal";

/** What a path names; a symbolic link is not followed. */
export interface Entry {
  /** The kind of thing. */
  readonly kind: "file" | "directory" | "symlink" | "other";
  /** Bytes of a file. */
  readonly size: number;
  /** Permission bits, such as 0o600; null where there are none. */
  readonly mode: number | null;
  /** Changes when it is written or replaced. */
  readonly revision: string;
  /** Which thing on its file system it is. */
  readonly identity: string;
  /** Which file system that is. */
  readonly device: number;
  /** Who owns it; null where there are no owners. */
  readonly owner: number | null;
}

/** An error of the file system; the system's own text is not repeated. */
function diskError(
  code: ErrorCode,
  action: string,
  path: string,
  error: unknown,
): SigError {
  const system = systemCode(error);
  const why = REASONS[system] ?? "the system refused it";
  return new SigError(
    code,
    `Cannot ${action} ${JSON.stringify(path)}: ${why} (${system})`,
    { context: { path, system_code: system }, cause: error },
  );
}

const REASONS: { readonly [code: string]: string | undefined } = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would become too large",
  EIO: "the device reported an error",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ENOENT: "it does not exist",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "it is a directory",
  ELOOP: "it has too many symbolic links",
  NotCapable:
    "the program was not given permission (--allow-read, --allow-write)",
};

/** Errors that the runtime gives a number only; the numbers are Linux's. */
const NUMBERS: { readonly [number: string]: string | undefined } = {
  "5": "EIO",
  "27": "EFBIG",
  "122": "EDQUOT",
};

function systemCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  const number = /\(os error (\d+)\)/.exec(error.message)?.[1];
  return NUMBERS[number ?? ""] ?? error.name;
}

/**
 * Does something with a path; what the system says is a {@linkcode diskError}.
 *
 * @param expected an error that is an answer, and what it means.
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

/** Looks at a path; undefined when it names nothing. */
function lookBy<T>(path: string, work: () => T): T | undefined {
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

/** What a path names, undefined when it names nothing. */
export function look(path: string): Entry | undefined {
  return lookBy(path, () => toEntry(Deno.lstatSync(path)));
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

/** Node's file functions: Deno's own open no file without waiting. */
function loadFs(): typeof nodeFs {
  return loadBuiltin("node:fs") as typeof nodeFs;
}

/**
 * Refuses what is not a directory.
 *
 * @throws {SigError} `invalid_metadata`
 */
export function requireFolder(path: string, entry: Entry | undefined): void {
  if (entry?.kind === "directory") return;
  throw new SigError(
    "invalid_metadata",
    `Cannot use ${JSON.stringify(path)}: it must be a directory`,
    { context: { path } },
  );
}

/** The path without symbolic links, undefined when it names nothing. */
export function resolvePath(path: string): string | undefined {
  return lookBy(path, () => Deno.realPathSync(path));
}

/**
 * Makes a directory; false when it is there already.
 *
 * @param flush called with the one that holds it (default: makes it durable).
 */
export function makeDirectory(
  path: string,
  mode = 0o755,
  flush: (parent: string) => void = syncDirectory,
): boolean {
  const make = () => {
    Deno.mkdirSync(path, { mode });
    return true;
  };
  const exists = [Deno.errors.AlreadyExists, false] as const;
  const action = "create the directory";
  const isMade = attempt("write_failed", action, path, make, exists);
  if (isMade) flush(parentOf(path));
  return isMade;
}

/** Makes what was created, renamed or removed in a directory durable. */
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

/** Files and directories that are flushed at a time. */
const MAX_FLUSHING = 64;

/**
 * Makes files and directories durable, many at a time: a file system commits
 * together what it is asked for together, so that a hundred cost as much as two.
 */
export async function syncAll(paths: Iterable<string>): Promise<void> {
  const fs = loadFs();
  // Only the flush waits for the disk.
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
 * All bytes of the plain file that a path names; undefined when it names
 * something else by now, or a file with more bytes. What was opened is judged,
 * no link is followed and no FIFO waited for.
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
    // With permission for some folders only, Deno itself follows links first.
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

/** The directory that a path is in. */
export function parentOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end < 0 ? "." : end === 0 ? "/" : path.slice(0, end);
}

/** Gives a file a second name; false when that name is taken. */
export function linkFile(from: string, to: string): boolean {
  const link = () => {
    Deno.linkSync(from, to);
    return true;
  };
  const exists = [Deno.errors.AlreadyExists, false] as const;
  return attempt("write_failed", "create", to, link, exists);
}

/** Puts a file in the place of another, or of none, in one step. */
export function renameFile(from: string, to: string): void {
  attempt("write_failed", "replace", to, () => Deno.renameSync(from, to));
}

/** Removes a file; nothing happens when it is absent. */
export function removeFile(path: string): void {
  const remove = () => Deno.removeSync(path);
  const absent = [Deno.errors.NotFound, undefined] as const;
  attempt("write_failed", "remove", path, remove, absent);
}

/** Sets the permission bits of a file. */
export function setMode(path: string, mode: number): void {
  const action = "set the permissions of";
  attempt("write_failed", action, path, () => Deno.chmodSync(path, mode));
}

/**
 * Opens a file for writing. It may have become another one since it was looked
 * at: judge what is open. With `read` as well, a FIFO does not block.
 */
export function openFile(path: string, options: Deno.OpenOptions): DiskFile {
  const writes = options.write === true || options.append === true;
  const code = writes ? "write_failed" : "store_unavailable";
  const open = () => new DiskFile(path, Deno.openSync(path, options));
  return attempt(code, "open", path, open);
}

/** {@linkcode openFile}; undefined when others were faster to make or remove it. */
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

/** An open file. */
export class DiskFile {
  readonly #path: string;
  readonly #file: Deno.FsFile;
  /** What was open when it was first looked at. */
  #first: Entry | undefined;

  constructor(path: string, file: Deno.FsFile) {
    this.#path = path;
    this.#file = file;
  }

  /** What is open: it may no longer be what the path names. */
  look(): Entry {
    const stat = () => toEntry(this.#file.statSync());
    const entry = attempt("store_unavailable", "look at", this.#path, stat);
    this.#first ??= entry;
    return entry;
  }

  /**
   * Whether this is what a path names, and could be opened as it was. Cheap: the
   * open file is looked at only once, since it can't become another one.
   */
  isWhat(path: string, entry: Entry | undefined): boolean {
    if (entry === undefined || path !== this.#path) return false;
    const own = this.#first ?? this.look();
    return entry.kind === "file" && entry.identity === own.identity &&
      entry.device === own.device && entry.mode === own.mode &&
      entry.owner === own.owner;
  }

  /** Takes the advisory lock of this open file, if nobody has it. */
  tryLock(): boolean {
    return this.#change("lock", () => this.#file.tryLockSync(true));
  }

  /** Gives up the lock; false when only closing would. */
  unlock(): boolean {
    try {
      this.#file.unlockSync();
      return true;
    } catch {
      return false;
    }
  }

  /** Bytes from an offset on; fewer only at the end of the file. */
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

  /** Writes some of the bytes, at least one; answers how many. */
  writeSome(bytes: Uint8Array): number {
    const count = this.#change("write", () => this.#file.writeSync(bytes));
    // Would turn the caller's loop into an endless one.
    if (count < 1) {
      throw diskError("write_failed", "write", this.#path, undefined);
    }
    return count;
  }

  /** Writes all of the bytes. */
  writeAll(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      done += this.writeSome(bytes.subarray(done));
    }
  }

  /** Cuts off what stands behind a size. */
  truncate(size: number): void {
    this.#change("cut", () => this.#file.truncateSync(size));
  }

  /** Makes contents and size durable. Never to be tried again on failure. */
  syncData(): void {
    this.#change("make durable", () => this.#file.syncDataSync());
  }

  /** {@linkcode DiskFile.syncData} and everything else about the file. */
  sync(): void {
    this.#change("make durable", () => this.#file.syncSync());
  }

  /** Closes it; its lock is given up. */
  close(): void {
    this.#file.close();
  }

  #change<T>(action: string, work: () => T): T {
    return attempt("write_failed", action, this.#path, work);
  }
}

/**
 * Spares opening and closing one file for each append. The caller that takes it
 * must check whether its path still names it.
 */
export class ReusableFile {
  #file: DiskFile | undefined;
  #closed = false;

  /**
   * The file, which is then the caller's alone: a turn that comes in between
   * opens its own, so that locks also exclude within one store.
   */
  take(): DiskFile | undefined {
    const file = this.#file;
    this.#file = undefined;
    return file;
  }

  /** Gives up the file's lock, and keeps it if there is none yet. */
  keep(file: DiskFile): void {
    if (!this.#closed && this.#file === undefined && file.unlock()) {
      this.#file = file;
    } else {
      file.close();
    }
  }

  /** Closes it; nothing is kept from now on. */
  close(): void {
    this.#closed = true;
    this.take()?.close();
  }
}
