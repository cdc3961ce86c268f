/** Millions of identifiers by their digests, each with a number. @module */

import type { NumberedIds } from "@sig/core";
import { ID_DIGEST_BYTES } from "./row_keys.ts";
import { TextDigest } from "./text_digest.ts";

/** Identifiers whose digests lie in one piece; pieces are never copied. */
const PIECE_IDS = 8_192;

const FIRST_PLACES = 1_024;
const FREE = 0xffff_ffff;

/** The share of places that is taken at most, and by how much they become more. */
const MAX_LOAD = 0.8;
const GROWTH = 1.25;

/**
 * Identifiers in 18 bytes each and 5 to 7 to find them, however long they are:
 * of a million their texts take half of what there is. They are told apart by
 * 144 bits of SHA-256: nobody finds two that agree.
 */
export class DigestedIds implements NumberedIds {
  readonly #digest = new TextDigest();
  #pieces: Uint8Array[] = [];
  /**
   * Open addressing, place by place. A word's low bits are a number; the others
   * are of its hash, so that whoever comes by looks at the digest of another one,
   * far away in memory, hardly ever.
   */
  #places = new Uint32Array(FIRST_PLACES).fill(FREE);
  /** How many bits of a word are a number. */
  #numberBits = bitsOf(FIRST_PLACES);
  /**
   * Where a digest begins to be looked for nobody knows beforehand: else an
   * issuer could choose identifiers that all begin at one place.
   */
  readonly #secret = crypto.getRandomValues(new Uint32Array(2));
  #size = 0;
  readonly #sought = new Uint8Array(ID_DIGEST_BYTES);
  #soughtHash = 0;
  /** Whose digest was made last: whoever adds has mostly just asked. */
  #soughtId: string | undefined;

  /** How many. */
  get size(): number {
    return this.#size;
  }

  indexOf(id: string): number {
    this.#seek(id);
    const word = this.#places[this.#find()]!;
    return word === FREE ? -1 : this.#numberIn(word);
  }

  add(id: string): number {
    this.#seek(id);
    const number = this.#size++;
    if (number >= MAX_LOAD * this.#places.length) this.#grow(number);
    const at = number % PIECE_IDS * ID_DIGEST_BYTES;
    if (at === 0) {
      this.#pieces.push(new Uint8Array(PIECE_IDS * ID_DIGEST_BYTES));
    }
    this.#pieces.at(-1)!.set(this.#sought, at);
    this.#places[this.#find()] = this.#wordOf(number, this.#soughtHash);
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
    this.#soughtHash = this.#hashOf(this.#sought, 0);
    this.#soughtId = id;
  }

  /** The place of what is sought, or the free one that would be its own. */
  #find(): number {
    const places = this.#places;
    const bits = this.#numberBits;
    const tag = this.#wordOf(0, this.#soughtHash) >>> bits;
    for (let place = this.#startOf(this.#soughtHash);;) {
      const word = places[place]!;
      if (
        word === FREE ||
        word >>> bits === tag && this.#isAt(this.#numberIn(word))
      ) return place;
      if (++place === places.length) place = 0;
    }
  }

  /** By the hash's high bits; its low ones are in the word. */
  #startOf(hash: number): number {
    return Math.floor((hash >>> 0) / 2 ** 32 * this.#places.length);
  }

  #wordOf(number: number, hash: number): number {
    return (hash << this.#numberBits | number) >>> 0;
  }

  #numberIn(word: number): number {
    return word & (2 ** this.#numberBits - 1);
  }

  #isAt(number: number): boolean {
    const digest = this.#sought;
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
    const places = new Uint32Array(Math.ceil(GROWTH * this.#places.length))
      .fill(FREE);
    this.#places = places;
    this.#numberBits = bitsOf(places.length);
    for (let number = 0; number < count; number++) {
      // No two are the same: only a free place is looked for.
      const piece = this.#pieces[Math.floor(number / PIECE_IDS)]!;
      const hash = this.#hashOf(piece, number % PIECE_IDS * ID_DIGEST_BYTES);
      let place = this.#startOf(hash);
      while (places[place] !== FREE) {
        if (++place === places.length) place = 0;
      }
      places[place] = this.#wordOf(number, hash);
    }
  }
}

/** Bits that every number below so many has room in. */
function bitsOf(places: number): number {
  return 32 - Math.clz32(places);
}
