/**
 * A copy of a feed in a file: a header, then the feed's bytes. Nothing is
 * locked: a process that appends writes the bytes that the issuer has published
 * at this place, as another process would. Every failure costs only the copy.
 *
 * @module
 */

import type * as nodeFs from "node:fs";
import { loadBuiltin } from "@sig/jose/internal";
import { isEntityTag } from "../fetch/fetch_options.ts";

/** The functions of `node:fs`. */
export type Files = typeof nodeFs;

/** Returns `node:fs`; undefined if the platform has none. */
export function loadFiles(): Files | undefined {
  return loadBuiltin("node:fs") as Files | undefined;
}

/** What the server said about the bytes of a copy. */
export interface CopyHeader {
  /** The reference of the feed in the metadata. */
  readonly ref: string;
  readonly etag: string | null;
  readonly mediaType: string | null;
  /** Number of bytes of the feed. The file may have more, which don't count. */
  readonly bytes: number;
}

const HEADER_BYTES = 4096;
const PIECE_BYTES = 256 * 1024;
const LF = 0x0a;
/** Parts that an ended process left are removed after a day. */
const PART_LIFETIME_MS = 86_400_000;

/** An open copy. */
export class FeedCopy {
  readonly header: CopyHeader;
  readonly #fs: Files;
  readonly #fd: number;
  #isOpen = true;

  private constructor(fs: Files, fd: number, header: CopyHeader) {
    this.#fs = fs;
    this.#fd = fd;
    this.header = header;
  }

  /** Opens the file; undefined if there is none, or it is damaged. */
  static open(fs: Files, path: string): FeedCopy | undefined {
    let fd: number;
    try {
      fd = fs.openSync(path, "r");
    } catch {
      return undefined;
    }
    try {
      const start = new Uint8Array(HEADER_BYTES);
      fs.readSync(fd, start, 0, HEADER_BYTES, 0);
      const header = JSON.parse(new TextDecoder().decode(start));
      const { size } = fs.fstatSync(fd);
      if (isHeader(header) && size >= HEADER_BYTES + header.bytes) {
        return new FeedCopy(fs, fd, header);
      }
    } catch {
      // It is not a copy.
    }
    fs.closeSync(fd);
    return undefined;
  }

  /**
   * Reads bytes of the feed.
   *
   * @returns fewer bytes only if the file was shortened meanwhile.
   */
  read(from: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    let at = 0;
    while (at < length) {
      const position = HEADER_BYTES + from + at;
      const count = this.#fs.readSync(
        this.#fd,
        bytes,
        at,
        length - at,
        position,
      );
      if (count === 0) break;
      at += count;
    }
    return bytes.subarray(0, at);
  }

  /** Yields the bytes of the feed up to an offset. */
  *pieces(until: number): Generator<Uint8Array> {
    for (let at = 0; at < until;) {
      const piece = this.read(at, Math.min(PIECE_BYTES, until - at));
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  /** Returns the number of the line at an offset, from 1. */
  lineAt(offset: number): number {
    let line = 1;
    for (const piece of this.pieces(offset)) {
      for (
        let at = piece.indexOf(LF);
        at >= 0;
        at = piece.indexOf(LF, at + 1)
      ) {
        line++;
      }
    }
    return line;
  }

  /** Whether a path still names this file. */
  isAt(path: string): boolean {
    const own = this.#fs.fstatSync(this.#fd, { bigint: true });
    const named = this.#fs.statSync(path, {
      bigint: true,
      throwIfNoEntry: false,
    });
    return named?.ino === own.ino && named.dev === own.dev;
  }

  /** Closes the file. Can be called more than once. */
  close(): void {
    if (this.#isOpen) this.#fs.closeSync(this.#fd);
    this.#isOpen = false;
  }
}

function isHeader(value: unknown): value is CopyHeader {
  const { ref, etag, mediaType, bytes } = Object(value);
  return isLabel({ ref, etag, mediaType }) &&
    Number.isSafeInteger(bytes) && bytes >= 0;
}

/** Whether the members of a stored document have the types of its reader. */
export function isLabel(
  { ref, etag, mediaType }: Readonly<Record<string, unknown>>,
): boolean {
  return typeof ref === "string" &&
    (etag === null || typeof etag === "string" && isEntityTag(etag)) &&
    (mediaType === null || typeof mediaType === "string");
}

/**
 * Compares a served feed with the copy while it is read, and saves the bytes
 * that the copy does not have, until they are kept.
 */
export class FeedRecorder {
  readonly #fs: Files;
  readonly #path: string;
  readonly #part: string;
  readonly #copy: FeedCopy | undefined;
  /** Bytes of the copy. */
  readonly #known: number;
  #at: number;
  /** The offset of the part's first byte. */
  #base: number | undefined;
  #fd: number | undefined;
  #difference: number | undefined;
  #isComplete = false;
  #hasFailed: boolean;

  /** @param from the offset of the first served byte. */
  constructor(
    fs: Files,
    path: string,
    copy: FeedCopy | undefined,
    from: number,
  ) {
    this.#fs = fs;
    this.#path = path;
    this.#part = `${path}.${crypto.randomUUID()}.part`;
    this.#copy = copy;
    this.#known = copy?.header.bytes ?? 0;
    this.#at = from;
    this.#hasFailed = from > this.#known;
  }

  /** The offset of the first byte that differs from the copy's. */
  get difference(): number | undefined {
    return this.#difference;
  }

  /** Whether the served feed is complete and shorter than the copy. */
  get isShorter(): boolean {
    return this.#isComplete && this.#at < this.#known;
  }

  /** Passes served bytes on. */
  async *follow(served: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of served) {
      if (!this.#hasFailed) this.#attempt(() => this.#add(chunk));
      yield chunk;
    }
    this.#isComplete = true;
  }

  #add(chunk: Uint8Array): void {
    const known = this.#base === undefined
      ? Math.min(chunk.length, this.#known - this.#at)
      : 0;
    const copied = this.#copy?.read(this.#at, known) ?? chunk.subarray(0, 0);
    const same = commonLength(copied, chunk);
    this.#at += same;
    if (same < known) this.#difference = this.#at;
    const fresh = chunk.subarray(same);
    if (fresh.length === 0) return;
    this.#base ??= this.#at;
    this.#fd ??= this.#fs.openSync(this.#part, "wx+", 0o600);
    writeAll(this.#fs, this.#fd, fresh, this.#at - this.#base);
    this.#at += fresh.length;
  }

  /** Makes the served feed the copy, if it was read to its end. */
  keep(header: Omit<CopyHeader, "bytes">): void {
    if (!this.#isComplete || this.#hasFailed) return;
    const start = formatHeader({ ...header, bytes: this.#at });
    if (start === undefined) return;
    this.#attempt(() => {
      const base = this.#base ?? this.#at;
      const isContinued = this.#copy !== undefined && base === this.#known;
      // Another process may have replaced the copy.
      if (isContinued && !this.#copy.isAt(this.#path)) return;
      if (isContinued) this.#append(start, base);
      else this.#replace(start, base);
    });
    this.discard();
  }

  #append(start: Uint8Array, base: number): void {
    const fd = this.#fs.openSync(this.#path, "r+");
    try {
      this.#copyPart(fd, base);
      writeAll(this.#fs, fd, start, 0);
    } finally {
      this.#fs.closeSync(fd);
    }
  }

  #replace(start: Uint8Array, base: number): void {
    const path = `${this.#path}.${crypto.randomUUID()}.part`;
    const fd = this.#fs.openSync(path, "wx", 0o600);
    try {
      writeAll(this.#fs, fd, start, 0);
      let at = HEADER_BYTES;
      for (const piece of this.#copy?.pieces(base) ?? []) {
        writeAll(this.#fs, fd, piece, at);
        at += piece.length;
      }
      this.#copyPart(fd, base);
      this.#fs.renameSync(path, this.#path);
    } finally {
      this.#fs.closeSync(fd);
      this.#fs.rmSync(path, { force: true });
    }
  }

  #copyPart(fd: number, base: number): void {
    if (this.#fd === undefined) return;
    const piece = new Uint8Array(PIECE_BYTES);
    for (let at = 0;;) {
      const count = this.#fs.readSync(this.#fd, piece, 0, piece.length, at);
      if (count === 0) return;
      const position = HEADER_BYTES + base + at;
      writeAll(this.#fs, fd, piece.subarray(0, count), position);
      at += count;
    }
  }

  /** Removes what was not kept, and what ended processes have left. */
  discard(): void {
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    this.#hasFailed = true;
    this.#attempt(() => {
      const now = this.#fs.fstatSync(fd).mtimeMs;
      this.#fs.closeSync(fd);
      this.#fs.rmSync(this.#part, { force: true });
      const slash = this.#path.lastIndexOf("/");
      const [folder, name] = [
        this.#path.slice(0, slash),
        this.#path.slice(slash + 1),
      ];
      for (const each of this.#fs.readdirSync(folder)) {
        if (!each.startsWith(`${name}.`) || !each.endsWith(".part")) continue;
        const path = `${folder}/${each}`;
        const { mtimeMs } = this.#fs.statSync(path);
        if (now - mtimeMs > PART_LIFETIME_MS) this.#fs.rmSync(path);
      }
    });
  }

  /** Runs work on files; if it fails, nothing is kept. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch {
      this.#hasFailed = true;
    }
  }
}

function formatHeader(header: CopyHeader): Uint8Array | undefined {
  const text = new TextEncoder().encode(JSON.stringify(header));
  if (text.length > HEADER_BYTES) return undefined;
  const bytes = new Uint8Array(HEADER_BYTES).fill(0x20);
  bytes.set(text);
  return bytes;
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

/** Returns the number of equal bytes at the start. */
function commonLength(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a[at] === b[at]) at++;
  return at;
}
