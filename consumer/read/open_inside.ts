/**
 * Opens files inside a folder. Checks the opened file instead of its path,
 * which may be replaced between check and use.
 *
 * @module
 */

import type * as nodeFs from "node:fs";
import { loadBuiltin } from "@sig/jose/internal";

/** An open regular file; the caller closes it. */
export interface InsideFile {
  /** Path below the top folder without symbolic links, such as `a/b.json`. */
  readonly place: string;
  /** Size in bytes when it was opened. */
  readonly size: number;
  /** Identifies the file and its last modification. */
  readonly version: string;
  /**
   * The last time an entry of a folder above it was added, removed or renamed,
   * in milliseconds since 1970, rounded down to a second. See {@linkcode
   * openInside}.
   */
  readonly foldersChangedMs: number;
  /**
   * Fills `bytes` from a position of the file. Returns the number of bytes
   * read.
   */
  read(bytes: Uint8Array, position: number): Promise<number>;
  /** Closes the file. Can be called more than once. */
  close(): void;
}

/** Why a file was not opened. Errors of the system are thrown unchanged. */
export type NotInside = "outside" | "not_a_file" | "exchanged";

/**
 * Maximum number of attempts. Each one fails only if the file was replaced
 * meanwhile.
 */
const MAX_ATTEMPTS = 8;

/**
 * Opens a file of a folder. Follows symbolic links inside the folder, and
 * refuses one that leaves it. Does not wait for the writer of a FIFO.
 *
 * The path is resolved, and the result is opened without following a link. Then
 * the **handle** is checked: it must be a regular file, the same (device and
 * inode) as the file at the resolved path, and the folders above it must not be
 * links and must be unchanged. A user who may rename folders here could replace
 * one briefly and restore it. {@linkcode InsideFile.foldersChangedMs} shows
 * this, unless it happens in the same second as an earlier change. A caller
 * that would disclose something by reading a file from elsewhere must therefore
 * wait until that second is over.
 *
 * A hard link is treated like any other file of the folder.
 *
 * @param top The folder's real path, as `Deno.realPath` returns it, but with
 * the separators of URLs and one at its end.
 * @param path Absolute path of the file; below `top` unless links lead
 * elsewhere.
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

function placeBelow(top: string, real: string): string | undefined {
  // Windows accepts both separators and returns backslashes.
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
  const before = inspectFolders(fs, folders);
  if (before === undefined) return "exchanged";
  const fd = openPlainly(fs, real);
  if (fd === undefined) return "exchanged";
  let kept = false;
  try {
    const opened = fs.fstatSync(fd, { bigint: true });
    const named = fs.lstatSync(real, { bigint: true, throwIfNoEntry: false });
    const after = inspectFolders(fs, folders);
    if (named === undefined || after?.mark !== before.mark) return "exchanged";
    if (named.isSymbolicLink() || !isSame(opened, named)) return "exchanged";
    if (!opened.isFile()) return "not_a_file";
    kept = true;
    return new OpenedFile(fs, fd, { place, info: opened, ...before });
  } finally {
    if (!kept) fs.closeSync(fd);
  }
}

/**
 * Undefined if the path has become a link, or was removed, since it was
 * resolved.
 */
function openPlainly(fs: typeof nodeFs, path: string): number | undefined {
  // Absent on Windows, where FIFOs and such links are not usual.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants;
  try {
    return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === "ELOOP" || code === "ENOENT") return undefined;
    throw error;
  }
}

/** Undefined if one of them is not a folder. */
function inspectFolders(fs: typeof nodeFs, folders: readonly string[]) {
  let mark = "";
  let changedMs = 0;
  for (const [at, path] of folders.entries()) {
    // With a trailing slash, a link would be followed.
    const info = fs.lstatSync(path.slice(0, -1) || "/", {
      bigint: true,
      throwIfNoEntry: false,
    });
    if (!info?.isDirectory()) return undefined;
    mark += `${info.dev}:${info.ino} `;
    // Files of the last folder change often. Its identity is protected by the
    // folder above it.
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
  /**
   * Pending reads: the descriptor stays open, so that it is not reused
   * meanwhile.
   */
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
