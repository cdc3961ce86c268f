/** Chunks of bytes into lines, split at LF only (docs/protocol.md §2). @module */

const LF = 0x0a;

/** A line, or the bytes where a line was expected. */
export interface FeedLine {
  /** Its bytes without the LF; empty when it is too long to be kept. */
  readonly bytes: Uint8Array;
  /** It is longer than the limit, and is passed over. */
  readonly tooLong: boolean;
}

/** Splits a stream; keeps at most one line of `maxLineBytes` between chunks. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #buffer: Uint8Array = new Uint8Array();
  #length = 0;
  #skipping = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /**
   * The lines that end in this chunk, valid until the next one. A line that is
   * too long comes as soon as that is known: its end may never come.
   *
   * One at a time: a chunk of nothing but LFs must not become millions of
   * objects. All of them must be taken before the next chunk.
   */
  *push(chunk: Uint8Array): Generator<FeedLine> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LF, start);
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
      if (
        !this.#skipping && this.#length + piece.length > this.#maxLineBytes
      ) {
        this.#skipping = true;
        this.#length = 0;
        yield { bytes: new Uint8Array(), tooLong: true };
      }
      if (end < 0) {
        if (!this.#skipping) this.#keep(piece);
        return;
      }
      if (!this.#skipping) {
        yield { bytes: this.#finish(piece), tooLong: false };
      }
      this.#skipping = false;
      start = end + 1;
    }
  }

  /**
   * Whether bytes follow the last LF: the last line is incomplete. Not so for
   * a line that was too long: it was reported already.
   */
  get hasRest(): boolean {
    return this.#length > 0;
  }

  #finish(piece: Uint8Array): Uint8Array {
    if (this.#length === 0) return piece;
    this.#keep(piece);
    // A copy: the rest of this chunk goes where this line is now.
    const line = this.#buffer.slice(0, this.#length);
    this.#length = 0;
    return line;
  }

  /** A copy: the memory of the chunk may be used again. */
  #keep(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      // Doubled, so that a line that comes byte by byte costs no square of it.
      const larger = new Uint8Array(
        Math.min(this.#maxLineBytes, Math.max(length, 2 * this.#buffer.length)),
      );
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }
}
