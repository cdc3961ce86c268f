/**
 * Opens files inside a folder. Checks the opened file instead of its path,
 * which may be replaced between check and use.
 *
 * @module
 */

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
   * read. Must not be called again before it is done.
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
 * refuses one that leaves it. Does not wait for the writer of a FIFO, unless
 * one takes the file's place during the call.
 *
 * The path is resolved, and the result is opened. Then the **handle** is
 * checked: it must be a regular file, the same (device and inode) as the file at
 * the resolved path, which must not be a link, and the folders above it must not
 * be links and must be unchanged. A user who may rename folders here could replace
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
  for (let attempt = 1;; attempt++) {
    const real = Deno.realPathSync(path);
    const place = placeBelow(top, real);
    if (place === undefined) return "outside";
    const found = tryOpen(top, place);
    if (found !== "exchanged" || attempt === MAX_ATTEMPTS) return found;
  }
}

function placeBelow(top: string, real: string): string | undefined {
  // Windows accepts both separators and returns backslashes.
  const path = Deno.build.os === "windows" ? real.replaceAll("\\", "/") : real;
  return path.startsWith(top) ? path.slice(top.length) : undefined;
}

function tryOpen(
  top: string,
  place: string,
): InsideFile | "not_a_file" | "exchanged" {
  const real = top + place;
  let folder = top;
  const folders = [
    top,
    ...place.split("/").slice(0, -1).map((name) => folder += `${name}/`),
  ];
  const before = inspectFolders(folders);
  const expected = inspect(real);
  if (before === undefined || expected === undefined) return "exchanged";
  if (expected.isSymlink) return "exchanged";
  // To open a FIFO would wait for its writer.
  if (!expected.isFile) return "not_a_file";
  const file = present(() => Deno.openSync(real));
  if (file === undefined) return "exchanged";
  let kept = false;
  try {
    const info = file.statSync();
    const named = inspect(real);
    const after = inspectFolders(folders);
    if (named === undefined || after?.mark !== before.mark) return "exchanged";
    if (named.isSymlink || !isSame(info, named)) return "exchanged";
    if (!info.isFile) return "not_a_file";
    kept = true;
    return new OpenedFile(file, { place, info, ...before });
  } finally {
    if (!kept) file.close();
  }
}

/** Returns undefined if the file was removed since its path was resolved. */
function present<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const { NotFound, FilesystemLoop } = Deno.errors;
    if (error instanceof NotFound || error instanceof FilesystemLoop) {
      return undefined;
    }
    throw error;
  }
}

const inspect = (path: string) => present(() => Deno.lstatSync(path));

/** Returns undefined if a path is not a folder. */
function inspectFolders(folders: readonly string[]) {
  let mark = "";
  let changedMs = 0;
  for (const [at, path] of folders.entries()) {
    // With a trailing slash, a link would be followed.
    const info = inspect(path.slice(0, -1) || "/");
    if (!info?.isDirectory) return undefined;
    mark += `${info.dev}:${info.ino} `;
    // Files of the last folder change often. Its identity is protected by the
    // folder above it.
    if (at === folders.length - 1) break;
    mark += `${info.ctime?.getTime()}:${info.mtime?.getTime()} `;
    changedMs = Math.max(changedMs, info.ctime?.getTime() ?? 0);
  }
  return { mark, changedMs };
}

function isSame(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

interface Found {
  readonly place: string;
  readonly info: Deno.FileInfo;
  readonly changedMs: number;
}

class OpenedFile implements InsideFile {
  readonly place: string;
  readonly size: number;
  readonly version: string;
  readonly foldersChangedMs: number;
  readonly #file: Deno.FsFile;
  #open = true;

  constructor(file: Deno.FsFile, { changedMs, info, place }: Found) {
    this.#file = file;
    this.place = place;
    this.size = info.size;
    this.version =
      `${info.dev}:${info.ino}:${info.mtime?.getTime()}:${info.ctime?.getTime()}`;
    this.foldersChangedMs = changedMs;
  }

  async read(bytes: Uint8Array, position: number): Promise<number> {
    if (!this.#open) throw new TypeError("Cannot read a file that is closed");
    this.#file.seekSync(position, Deno.SeekMode.Start);
    let length = 0;
    while (this.#open && length < bytes.length) {
      const count = await this.#file.read(bytes.subarray(length));
      if (count === null) break;
      length += count;
    }
    return length;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#file.close();
  }
}
