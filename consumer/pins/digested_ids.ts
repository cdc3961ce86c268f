/** Millions of identifiers by their digests, each with a number. @module */

import type { NumberedIds } from "@sig/core";
import { ID_DIGEST_BYTES } from "./row_keys.ts";
import { TextDigest } from "./text_digest.ts";

/** Identifiers whose digests lie in one piece; pieces are never copied. */
const PIECE_IDS = 8_192;

const FIRST_PLACES = 1_024;
const FREE = 0xffff_ffff;

/**
 * Identifiers in 18 bytes each and 4 to 16 to find them, however long they are:
 * of a million their texts take half of what there is. They are told apart by
 * 144 bits of SHA-256: nobody finds two that agree.
 */
export class DigestedIds implements NumberedIds {
  readonly #digest = new TextDigest();
  #pieces: Uint8Array[] = [];
  /** Open addressing: numbers, at most half of the places. */
  #places = new Uint32Array(FIRST_PLACES).fill(FREE);
  /**
   * Where a digest begins to be looked for nobody knows beforehand: else an
   * issuer could choose identifiers that all begin at one place.
   */
  readonly #secret = crypto.getRandomValues(new Uint32Array(2));
  #size = 0;
  readonly #sought = new Uint8Array(ID_DIGEST_BYTES);
  /** Whose digest was made last: whoever adds has mostly just asked. */
  #soughtId: string | undefined;

  /** How many. */
  get size(): number {
    return this.#size;
  }

  indexOf(id: string): number {
    this.#seek(id);
    const number = this.#places[this.#find(this.#sought)]!;
    return number === FREE ? -1 : number;
  }

  add(id: string): number {
    this.#seek(id);
    const number = this.#size++;
    if (2 * number >= this.#places.length) this.#grow(number);
    const at = number % PIECE_IDS * ID_DIGEST_BYTES;
    if (at === 0) {
      this.#pieces.push(new Uint8Array(PIECE_IDS * ID_DIGEST_BYTES));
    }
    this.#pieces.at(-1)!.set(this.#sought, at);
    this.#places[this.#find(this.#sought)] = number;
    return number;
  }

  /** The digest of the identifier with that number. */
  digestOf(number: number): Uint8Array {
    const at = number % PIECE_IDS * ID_DIGEST_BYTES;
    return this.#pieces[Math.floor(number / PIECE_IDS)]!
      .subarray(at, at + ID_DIGEST_BYTES);
  }

  /** Gives its memory back: nothing may be asked or added any more. */
  end(): void {
    this.#pieces = [];
    this.#places = new Uint32Array();
  }

  #seek(id: string): void {
    if (this.#places.length === 0) {
      throw new TypeError("Cannot ask for identifiers: they were given back");
    }
    if (this.#soughtId === id) return;
    this.#digest.into(this.#sought, id);
    this.#soughtId = id;
  }

  /** The place of a digest, or the free one that would be its own. */
  #find(digest: Uint8Array): number {
    const places = this.#places;
    const mask = places.length - 1;
    let place = this.#hashOf(digest, 0) & mask;
    for (let step = 1;; step++) {
      const number = places[place]!;
      if (number === FREE || this.#isAt(digest, number)) return place;
      // Triangular steps come to every place of a power of two.
      place = (place + step) & mask;
    }
  }

  #isAt(digest: Uint8Array, number: number): boolean {
    const piece = this.#pieces[Math.floor(number / PIECE_IDS)]!;
    const at = number % PIECE_IDS * ID_DIGEST_BYTES;
    for (let i = 0; i < ID_DIGEST_BYTES; i++) {
      if (piece[at + i] !== digest[i]) return false;
    }
    return true;
  }

  /** 32 bits, each of which all of the first 64 had a part in. */
  #hashOf(bytes: Uint8Array, at: number): number {
    const [a = 0, b = 0] = this.#secret;
    const word = (i: number) =>
      bytes[i]! << 24 | bytes[i + 1]! << 16 | bytes[i + 2]! << 8 |
      bytes[i + 3]!;
    const mixed = Math.imul(word(at) ^ a, 0x9e3779b1) ^
      Math.imul(word(at + 4) ^ b, 0x85ebca6b);
    const half = Math.imul(mixed ^ mixed >>> 15 ^ a, 0x2c1b3c6d);
    return half ^ half >>> 13;
  }

  #grow(count: number): void {
    const places = new Uint32Array(2 * this.#places.length).fill(FREE);
    const mask = places.length - 1;
    this.#places = places;
    for (let number = 0; number < count; number++) {
      // No two are the same: only a free place is looked for.
      const piece = this.#pieces[Math.floor(number / PIECE_IDS)]!;
      const at = number % PIECE_IDS * ID_DIGEST_BYTES;
      let place = this.#hashOf(piece, at) & mask;
      for (let step = 1; places[place] !== FREE; step++) {
        place = (place + step) & mask;
      }
      places[place] = number;
    }
  }
}
