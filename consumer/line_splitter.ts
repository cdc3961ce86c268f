/** Chunks of bytes into lines, split at LF only (PROTOCOL §2). @module */

const LF = 0x0a;

/** A line, or what stands where a line was expected. */
export interface FeedLine {
  /** Its bytes without the LF; empty when it was too long to be kept. */
  readonly bytes: Uint8Array;
  /** It was longer than the limit, and was passed over. */
  readonly tooLong: boolean;
}

/** Splits a stream; keeps at most one line of `maxLineBytes` between chunks. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #rest: Uint8Array = new Uint8Array();
  #skipping = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that end in this chunk, valid until the next one. */
  push(chunk: Uint8Array): readonly FeedLine[] {
    const lines: FeedLine[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LF, start);
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
      if (end < 0) {
        this.#keep(piece);
        return lines;
      }
      lines.push(this.#finish(piece));
      start = end + 1;
    }
  }

  /** Whether bytes follow the last LF: the last line is incomplete. */
  get hasRest(): boolean {
    return this.#rest.length > 0 || this.#skipping;
  }

  #finish(piece: Uint8Array): FeedLine {
    const tooLong = this.#skipping ||
      this.#rest.length + piece.length > this.#maxLineBytes;
    const bytes = tooLong ? new Uint8Array() : join(this.#rest, piece);
    this.#rest = new Uint8Array();
    this.#skipping = false;
    return { bytes, tooLong };
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0 || this.#skipping) return;
    if (this.#rest.length + piece.length > this.#maxLineBytes) {
      this.#rest = new Uint8Array();
      this.#skipping = true;
    } else {
      // A copy: the chunk's memory may be used again by whoever filled it.
      this.#rest = join(this.#rest, piece.slice());
    }
  }
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
