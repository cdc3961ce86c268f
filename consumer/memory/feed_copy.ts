/**
 * Files of a copy of a feed. Nothing is locked: a process that appends writes
 * the bytes that the issuer has published at this place, as another process
 * would. Every failure costs only the copy.
 *
 * @module
 */

import type * as nodeFs from "node:fs";
import { loadBuiltin } from "@sig/jose/internal";
import { createSha256For } from "../verify/verify_feed.ts";

/** The functions of `node:fs`. */
export type Files = typeof nodeFs;

/** Returns `node:fs`; undefined if the platform has none. */
export function loadFiles(): Files | undefined {
  return loadBuiltin("node:fs") as Files | undefined;
}

const PIECE_BYTES = 256 * 1024;
const LF = 0x0a;
/** Parts that an ended process left are removed after a day. */
const PART_LIFETIME_MS = 86_400_000;

/**
 * Returns whether there is a file. Anything else, such as a FIFO, could block
 * this process forever when it is opened.
 */
export function isFile(fs: Files, path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** An open copy of a feed. */
export class FeedCopy {
  readonly bytes: number;
  readonly #fs: Files;
  readonly #fd: number;

  private constructor(fs: Files, fd: number, bytes: number) {
    this.#fs = fs;
    this.#fd = fd;
    this.bytes = bytes;
  }

  /** Opens the file if its first bytes have this SHA-256. */
  static open(
    fs: Files,
    path: string,
    { bytes, sha256 }: { readonly bytes: number; readonly sha256: string },
  ): FeedCopy | undefined {
    let copy: FeedCopy | undefined;
    try {
      if (!isFile(fs, path)) return undefined;
      copy = new FeedCopy(fs, fs.openSync(path, "r"), bytes);
      const digest = createSha256For(bytes);
      for (const piece of copy.pieces()) digest.update(piece);
      if (digest.hex() === sha256) return copy;
    } catch {
      // It can't be read.
    }
    copy?.close();
    return undefined;
  }

  /**
   * Reads bytes of the feed.
   *
   * @returns fewer bytes only if the file was shortened meanwhile.
   */
  read(from: number, length: number): Uint8Array {
    return readFrom(
      this.#fs,
      this.#fd,
      from,
      Math.min(length, this.bytes - from),
    );
  }

  /** Yields the bytes of the feed up to an offset (default: all). */
  *pieces(until: number = this.bytes): Generator<Uint8Array> {
    yield* piecesOf(this.#fs, this.#fd, until);
  }

  /** Returns the number of the line at an offset, from 1. */
  lineAt(offset: number): number {
    let line = 1;
    for (const piece of this.pieces(offset)) {
      for (const byte of piece) if (byte === LF) line++;
    }
    return line;
  }

  close(): void {
    this.#fs.closeSync(this.#fd);
  }
}

/** Saves the bytes of a served feed in a file, until they are kept. */
export class FeedRecorder {
  readonly #fs: Files;
  readonly #path: string;
  readonly #part: string;
  readonly #from: number;
  #bytes = 0;
  #fd: number | undefined;
  #hasFailed = false;

  /** @param from The offset of the first byte in the feed. */
  constructor(fs: Files, path: string, from: number) {
    this.#fs = fs;
    this.#path = path;
    this.#part = `${path}.${crypto.randomUUID()}.part`;
    this.#from = from;
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#attempt(() => {
      writeAll(this.#fs, this.#open(), bytes, this.#bytes);
      this.#bytes += bytes.length;
    });
  }

  /** Makes the bytes the copy, or appends them to it; returns false on failure. */
  keep(): boolean {
    this.#attempt(() => {
      const part = this.#open();
      if (this.#from === 0) {
        return this.#fs.renameSync(this.#part, this.#path);
      }
      if (!isFile(this.#fs, this.#path)) throw new Error("there is no copy");
      const fd = this.#fs.openSync(this.#path, "r+");
      try {
        let at = this.#from;
        for (const piece of piecesOf(this.#fs, part, this.#bytes)) {
          writeAll(this.#fs, fd, piece, at);
          at += piece.length;
        }
      } finally {
        this.#fs.closeSync(fd);
      }
    });
    return !this.#hasFailed;
  }

  /** Removes what was not kept. */
  close(): void {
    if (this.#fd === undefined) return;
    this.#fs.closeSync(this.#fd);
    this.#fd = undefined;
    try {
      this.#fs.rmSync(this.#part, { force: true });
    } catch {
      // Another process removes it in a day.
    }
  }

  #open(): number {
    if (this.#fd !== undefined) return this.#fd;
    this.#fd = this.#fs.openSync(this.#part, "wx+", 0o600);
    this.#removeOld(this.#fs.fstatSync(this.#fd).mtimeMs);
    return this.#fd;
  }

  /** Removes what ended processes have left. */
  #removeOld(nowMs: number): void {
    const slash = this.#path.lastIndexOf("/") + 1;
    const [folder, name] = [
      this.#path.slice(0, slash),
      this.#path.slice(slash),
    ];
    for (const each of this.#fs.readdirSync(folder)) {
      if (!each.startsWith(`${name}.`) || !each.endsWith(".part")) continue;
      const { mtimeMs } = this.#fs.statSync(folder + each);
      if (nowMs - mtimeMs > PART_LIFETIME_MS) this.#fs.rmSync(folder + each);
    }
  }

  /** Runs work on files; if it fails, nothing is kept. */
  #attempt(work: () => void): void {
    if (this.#hasFailed) return;
    try {
      work();
    } catch {
      this.#hasFailed = true;
    }
  }
}

function* piecesOf(
  fs: Files,
  fd: number,
  until: number,
): Generator<Uint8Array> {
  for (let at = 0; at < until;) {
    const piece = readFrom(fs, fd, at, Math.min(PIECE_BYTES, until - at));
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}

function readFrom(
  fs: Files,
  fd: number,
  from: number,
  length: number,
): Uint8Array {
  const bytes = new Uint8Array(Math.max(0, length));
  let at = 0;
  while (at < bytes.length) {
    const count = fs.readSync(fd, bytes, at, bytes.length - at, from + at);
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}

function writeAll(
  fs: Files,
  fd: number,
  bytes: Uint8Array,
  position: number,
): void {
  for (let at = 0; at < bytes.length;) {
    at += fs.writeSync(fd, bytes, at, bytes.length - at, position + at);
  }
}
