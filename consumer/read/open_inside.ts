/**
 * Files inside of a folder, judged by what was opened and never by a name that
 * may mean something else by then.
 *
 * @module
 */

import type * as nodeFs from "node:fs";
import { loadBuiltin } from "@sig/jose/internal";

/** An open regular file; the caller closes it. */
export interface InsideFile {
  /** Its place below the top, no symbolic link in it, such as `a/b.json`. */
  readonly place: string;
  /** Bytes when it was opened. */
  readonly size: number;
  /** Which file it is, and when it was last written. */
  readonly version: string;
  /**
   * When a folder above it last got, lost or renamed an entry, in milliseconds
   * since 1970 and rounded down to a second. See {@linkcode openInside}.
   */
  readonly foldersChangedMs: number;
  /** Fills the bytes from a position of the file on; answers how far. */
  read(bytes: Uint8Array, position: number): Promise<number>;
  /** Closes it; may be called twice. */
  close(): void;
}

/** Why there is no file. Errors of the system are thrown as they are. */
export type NotInside = "outside" | "not_a_file" | "exchanged";

/** Exchanges of a file that are waited out: each is one rename by its writer. */
const MAX_ATTEMPTS = 8;

/**
 * Opens a file of a folder. Symbolic links inside of the folder are followed,
 * one that leads out of it is refused. It does not wait for a FIFO's writer.
 *
 * The path is resolved, the result is opened without following a link, and then
 * the **handle** is judged: it is a regular file, and the file at
 * the resolved name (device and inode), below folders that are not links and are
 * the same before and after. A user who may rename folders here could put another
 * one in place for an instant and back again; that shows in
 * {@linkcode InsideFile.foldersChangedMs}, unless it happens in the very second
 * in which a folder was changed before. So a caller that would betray something
 * by reading a file from elsewhere waits for that second to be over.
 *
 * A hard link is a file of this folder like any other.
 *
 * @param top the folder's real path, as `Deno.realPath` answers it, but with
 * the separators of URLs and one at its end.
 * @param path the file, absolute; below `top` unless links lead elsewhere.
 */
export function openInside(top: string, path: string): InsideFile | NotInside {
  const fs = loadBuiltin("node:fs") as typeof nodeFs;
  for (let attempt = 1;; attempt++) {
    const real = Deno.realPathSync(path);
    const place = placeBelow(top, real);
    if (place === undefined) return "outside";
    const found = tryOpen(fs, top, place);
    if (found !== "exchanged" || attempt === MAX_ATTEMPTS) return found;
  }
}

/** Undefined for a path elsewhere. */
function placeBelow(top: string, real: string): string | undefined {
  // Windows takes both, and answers with the other one.
  const path = Deno.build.os === "windows" ? real.replaceAll("\\", "/") : real;
  return path.startsWith(top) ? path.slice(top.length) : undefined;
}

function tryOpen(
  fs: typeof nodeFs,
  top: string,
  place: string,
): InsideFile | "not_a_file" | "exchanged" {
  const real = top + place;
  let folder = top;
  const folders = [
    top,
    ...place.split("/").slice(0, -1).map((name) => folder += `${name}/`),
  ];
  const before = lookAt(fs, folders);
  if (before === undefined) return "exchanged";
  const fd = openPlainly(fs, real);
  if (fd === undefined) return "exchanged";
  let kept = false;
  try {
    const opened = fs.fstatSync(fd, { bigint: true });
    const named = fs.lstatSync(real, { bigint: true, throwIfNoEntry: false });
    const after = lookAt(fs, folders);
    if (named === undefined || after?.mark !== before.mark) return "exchanged";
    if (named.isSymbolicLink() || !isSame(opened, named)) return "exchanged";
    if (!opened.isFile()) return "not_a_file";
    kept = true;
    return new OpenedFile(fs, fd, { place, info: opened, ...before });
  } finally {
    if (!kept) fs.closeSync(fd);
  }
}

/** Undefined when the name has become a link, or nothing, since it was resolved. */
function openPlainly(fs: typeof nodeFs, path: string): number | undefined {
  // Absent on Windows, which has neither FIFOs nor such links by default.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants;
  try {
    return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === "ELOOP" || code === "ENOENT") return undefined;
    throw error;
  }
}

/** The folders, unless one of them is something else. */
function lookAt(fs: typeof nodeFs, folders: readonly string[]) {
  let mark = "";
  let changedMs = 0;
  for (const [at, path] of folders.entries()) {
    // With its last slash a link would be followed.
    const info = fs.lstatSync(path.slice(0, -1) || "/", {
      bigint: true,
      throwIfNoEntry: false,
    });
    if (!info?.isDirectory()) return undefined;
    mark += `${info.dev}:${info.ino} `;
    // Files come and go in the last one; its own identity is in the one above.
    if (at === folders.length - 1) break;
    mark += `${info.ctimeMs}:${info.mtimeNs} `;
    changedMs = Math.max(changedMs, Number(info.ctimeMs));
  }
  return { mark, changedMs };
}

function isSame(a: nodeFs.BigIntStats, b: nodeFs.BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

interface Found {
  readonly place: string;
  readonly info: nodeFs.BigIntStats;
  readonly changedMs: number;
}

class OpenedFile implements InsideFile {
  readonly place: string;
  readonly size: number;
  readonly version: string;
  readonly foldersChangedMs: number;
  readonly #fs: typeof nodeFs;
  readonly #fd: number;
  #open = true;
  /** Reads that are under way: their number must not become another file's. */
  #reading = 0;

  constructor(
    fs: typeof nodeFs,
    fd: number,
    { changedMs, info, place }: Found,
  ) {
    this.#fs = fs;
    this.#fd = fd;
    this.place = place;
    this.size = Number(info.size);
    this.version = `${info.dev}:${info.ino}:${info.mtimeNs}:${info.ctimeNs}`;
    this.foldersChangedMs = changedMs;
  }

  async read(bytes: Uint8Array, position: number): Promise<number> {
    if (!this.#open) throw new TypeError("Cannot read a file that is closed");
    this.#reading++;
    try {
      let length = 0;
      while (this.#open && length < bytes.length) {
        const rest = bytes.subarray(length);
        const count = await this.#readSome(rest, position + length);
        if (count === 0) break;
        length += count;
      }
      return length;
    } finally {
      this.#reading--;
      this.#closeIfUnused();
    }
  }

  #readSome(bytes: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#fs.read(
        this.#fd,
        bytes,
        0,
        bytes.length,
        position,
        (error, count) => error ? reject(error) : resolve(count),
      );
    });
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (!this.#open && this.#reading === 0) this.#fs.closeSync(this.#fd);
  }
}
