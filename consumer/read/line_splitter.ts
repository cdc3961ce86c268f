/**
 * Splits chunks of bytes into lines, at LF only (docs/protocol.md §2). @module
 */

const LF = 0x0a;

/** One line of a feed. */
export interface FeedLine {
  /** The line without the LF; empty if it is too long. */
  readonly bytes: Uint8Array;
  /** True if the line is longer than the limit. Its bytes are skipped. */
  readonly tooLong: boolean;
}

/**
 * Splits a stream into lines. Keeps at most one line of `maxLineBytes` between
 * chunks.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #buffer: Uint8Array = new Uint8Array();
  #length = 0;
  #skipping = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /**
   * Yields the lines that end in this chunk. They are valid until the next
   * chunk. A line that is too long is reported as soon as it exceeds the limit:
   * it may never end.
   *
   * Lines are created one at a time: a chunk of nothing but LFs must not become
   * millions of objects. Take all of them before the next `push`.
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
   * Whether bytes follow the last LF: the last line is incomplete. False after
   * a line that was too long, which has already been reported.
   */
  get hasRest(): boolean {
    return this.#length > 0;
  }

  #finish(piece: Uint8Array): Uint8Array {
    if (this.#length === 0) return piece;
    this.#keep(piece);
    // A copy, because the rest of this chunk overwrites the buffer.
    const line = this.#buffer.slice(0, this.#length);
    this.#length = 0;
    return line;
  }

  /** Copies the piece, because the chunk's memory may be reused. */
  #keep(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      // The size doubles: a line that arrives byte by byte would otherwise take
      // quadratic time.
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
