/**
 * Files of copies of feeds. Nothing is locked, and a file is only ever replaced
 * as a whole. Every failure costs only the copy.
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
 * this process when it is opened.
 */
export function isFile(fs: Files, path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** An open copy of a feed. */
export class FeedCopy {
  readonly bytes: number;
  readonly #fs: Files;
  readonly #fd: number;
  #wasShortened = false;

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
    let copy: FeedCopy;
    try {
      if (!isFile(fs, path)) return undefined;
      copy = new FeedCopy(fs, fs.openSync(path, "r"), bytes);
    } catch {
      return undefined;
    }
    if (copy.hasSha256(sha256)) return copy;
    copy.close();
    return undefined;
  }

  /**
   * Returns whether all bytes have this SHA-256. A file that was ever shorter is
   * refused, also if it was restored since.
   */
  hasSha256(sha256: string): boolean {
    const digest = createSha256For(this.bytes);
    try {
      for (const piece of this.pieces()) digest.update(piece);
    } catch {
      return false;
    }
    return !this.#wasShortened && digest.hex() === sha256;
  }

  /** Reads bytes of the feed; fewer at its end, or if the file was shortened. */
  read(from: number, length: number): Uint8Array {
    const bytes = new Uint8Array(
      Math.max(0, Math.min(length, this.bytes - from)),
    );
    for (let at = 0; at < bytes.length;) {
      const left = bytes.length - at;
      const count = this.#fs.readSync(this.#fd, bytes, at, left, from + at);
      if (count === 0) {
        this.#wasShortened = true;
        return bytes.subarray(0, at);
      }
      at += count;
    }
    return bytes;
  }

  /** Yields the bytes of the feed up to an offset (default: all). */
  *pieces(until: number = this.bytes): Generator<Uint8Array> {
    for (let at = 0; at < until; at += PIECE_BYTES) {
      yield this.read(at, Math.min(PIECE_BYTES, until - at));
    }
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

/** Writes a file in place of another one, once it is kept. */
export class Replacement {
  readonly #fs: Files;
  readonly #path: string;
  readonly #part: string;
  #fd: number | undefined;
  #hasFailed = false;

  constructor(fs: Files, path: string) {
    this.#fs = fs;
    this.#path = path;
    this.#part = `${path}.${crypto.randomUUID()}.part`;
    this.#attempt(() => {
      this.#fd = fs.openSync(this.#part, "wx", 0o600);
      this.#removeOld(fs.fstatSync(this.#fd).mtimeMs);
    });
  }

  add(bytes: Uint8Array): void {
    this.#attempt(() => {
      for (let at = 0; at < bytes.length;) {
        at += this.#fs.writeSync(this.#fd!, bytes, at);
      }
    });
  }

  /** Puts the file in its place; returns whether this and all writes worked. */
  keep(): boolean {
    this.#attempt(() => this.#fs.renameSync(this.#part, this.#path));
    return !this.#hasFailed;
  }

  /** Removes what was not kept. */
  close(): void {
    if (this.#fd === undefined) return;
    this.#fs.closeSync(this.#fd);
    this.#fd = undefined;
    this.#hasFailed = false;
    this.#attempt(() => this.#fs.rmSync(this.#part, { force: true }));
  }

  /** Removes what ended processes have left. */
  #removeOld(nowMs: number): void {
    const slash = this.#path.lastIndexOf("/") + 1;
    const folder = this.#path.slice(0, slash);
    for (const each of this.#fs.readdirSync(folder)) {
      const isPart = each.startsWith(`${this.#path.slice(slash)}.`) &&
        each.endsWith(".part");
      if (!isPart) continue;
      // Another process may have removed it meanwhile.
      const part = this.#fs.lstatSync(folder + each, { throwIfNoEntry: false });
      if (part !== undefined && nowMs - part.mtimeMs > PART_LIFETIME_MS) {
        this.#fs.rmSync(folder + each, { force: true });
      }
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
