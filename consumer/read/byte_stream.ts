/** Taking a stream of bytes apart, and putting chunks together. @module */

import { joinBytes } from "@sig/core/internal";

/** A stream whose beginning is read apart from its rest. */
export class ByteStream {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #left: Uint8Array | undefined;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#iterator = bytes[Symbol.asyncIterator]();
  }

  /** The next chunk, of at most that many bytes; undefined at the end. */
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

  /** Up to that many bytes, copied into one array; fewer only at the end. */
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

  /** Ends the stream, however much of it was read. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  /** What was not read yet. */
  async *rest(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = await this.next();
      if (chunk === undefined) return;
      yield chunk;
    }
  }
}
