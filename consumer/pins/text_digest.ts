/** SHA-256 of short texts, of which a feed has millions. @module */

import { Sha256 } from "./sha256.ts";

/** What stands for itself in JSON: all of ASCII but quotes and controls. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Longer texts take the way of all others. */
const MAX_SIMPLE_LENGTH = 510;

/**
 * Digests texts as JSON: a lone surrogate is escaped there, and not replaced.
 * Uses its memory again and again.
 */
export class TextDigest {
  readonly #hash = new Sha256();
  readonly #bytes = new Uint8Array(MAX_SIMPLE_LENGTH + 2);

  /** Writes the first bytes of a text's digest. */
  into(target: Uint8Array, text: string): void {
    const length = this.#quote(text);
    this.#hash.update(
      length > 0
        ? this.#bytes.subarray(0, length)
        : new TextEncoder().encode(JSON.stringify(text)),
    );
    this.#hash.finishInto(target);
  }

  /** Writes a simple text as JSON. Returns the bytes, 0 for any other text. */
  #quote(text: string): number {
    const { length } = text;
    if (length > MAX_SIMPLE_LENGTH) return 0;
    const bytes = this.#bytes;
    bytes[0] = QUOTE;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) {
        return 0;
      }
      bytes[i + 1] = code;
    }
    bytes[length + 1] = QUOTE;
    return length + 2;
  }
}
