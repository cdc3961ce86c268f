/** Reads a stream of bytes in parts. @module */

import { joinBytes } from "@sig/core/internal";

/** A stream whose first bytes can be read separately from the rest. */
export class ByteStream {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #left: Uint8Array | undefined;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#iterator = bytes[Symbol.asyncIterator]();
  }

  /** Returns the next chunk, of at most `maxBytes`, or undefined at the end. */
  async next(maxBytes = Infinity): Promise<Uint8Array | undefined> {
    let chunk = this.#left;
    this.#left = undefined;
    while (chunk === undefined || chunk.length === 0) {
      const { value, done } = await this.#iterator.next();
      if (done) return undefined;
      chunk = value;
    }
    if (chunk.length <= maxBytes) return chunk;
    this.#left = chunk.subarray(maxBytes);
    return chunk.subarray(0, maxBytes);
  }

  /** Returns the next `maxBytes` bytes as a copy; fewer only at the end. */
  async take(maxBytes: number): Promise<Uint8Array> {
    const taken: Uint8Array[] = [];
    let length = 0;
    while (length < maxBytes) {
      const chunk = await this.next(maxBytes - length);
      if (chunk === undefined) break;
      taken.push(chunk.slice());
      length += chunk.length;
    }
    return joinBytes(taken, length);
  }

  /** Ends the stream, even if it has not been read to the end. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = await this.next();
      if (chunk === undefined) return;
      yield chunk;
    }
  }
}
