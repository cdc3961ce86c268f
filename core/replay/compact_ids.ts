/**
 * Millions of identifiers in little memory, each with a number.
 *
 * A string in a `Set` costs about 100 bytes beside garbage that has to be
 * collected; here an identifier costs its characters and 10 to 16 bytes.
 *
 * @module
 */

/** Bytes of a piece of memory; pieces are never copied. */
const PIECE_BYTES = 256 * 1024;

/** What 32 bits can count bytes of. */
const MAX_PIECES = 2 ** 32 / PIECE_BYTES;

/** Longer ones, and others than ASCII, are kept as strings. */
const MAX_PACKED_LENGTH = 512;

/**
 * Places that are looked at for an identifier. Whoever makes identifiers that
 * all begin at the same place gets them kept as strings, and wins nothing.
 */
const MAX_PROBES = 64;

/** So many are kept as strings first: a writer asks about one event each time. */
const FEW = 64;

const FIRST_PLACES = 1_024;
const FREE = 0xffff_ffff;

/** Numbers identifiers from 0 in the order in which they come. */
export class CompactIds {
  readonly #pieces: Uint8Array[] = [];
  /** Bytes used of the last piece. */
  #used = PIECE_BYTES;
  /** Where each identifier stands in the pieces; its length stands before it. */
  #starts = new Uint32Array();
  /** Open addressing: numbers, at most half of the places. */
  #places = new Uint32Array();
  /** Those that are not packed. */
  readonly #others = new Map<string, number>();
  #packed = 0;
  #size = 0;

  /** How many. */
  get size(): number {
    return this.#size;
  }

  /** The number of an identifier; -1 for one that is not here. */
  indexOf(id: string): number {
    const hash = this.#packed === 0 ? undefined : hashOf(id);
    if (hash !== undefined) {
      const place = this.#find(id, hash);
      if (place !== undefined) {
        const number = this.#places[place]!;
        if (number !== FREE) return number;
      }
    }
    return this.#others.size === 0 ? -1 : this.#others.get(id) ?? -1;
  }

  /** Adds an identifier that is not here, and returns its number. */
  add(id: string): number {
    const number = this.#size++;
    const mayPack = number >= FEW && this.#pieces.length < MAX_PIECES;
    const hash = mayPack ? hashOf(id) : undefined;
    if (hash === undefined) {
      this.#others.set(id, number);
      return number;
    }
    if (2 * this.#packed >= this.#places.length) this.#grow();
    const place = this.#find(id, hash);
    if (place === undefined) {
      this.#others.set(id, number);
      return number;
    }
    this.#places[place] = number;
    this.#packed++;
    this.#write(id, number);
    return number;
  }

  /** Where the identifier is, or would be; undefined after too many others. */
  #find(id: string, hash: number): number | undefined {
    const places = this.#places;
    const mask = places.length - 1;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      // Triangular steps come to every place of a power of two.
      const place = (hash + (probe * (probe + 1) >> 1)) & mask;
      const number = places[place]!;
      if (number === FREE || this.#isAt(id, number)) return place;
    }
    return undefined;
  }

  #isAt(id: string, number: number): boolean {
    const start = this.#starts[number]!;
    const piece = this.#pieces[Math.floor(start / PIECE_BYTES)]!;
    let at = start % PIECE_BYTES;
    if ((piece[at++]! << 8 | piece[at++]!) !== id.length) return false;
    for (let i = 0; i < id.length; i++) {
      if (piece[at + i] !== id.charCodeAt(i)) return false;
    }
    return true;
  }

  #write(id: string, number: number): void {
    if (this.#used + 2 + id.length > PIECE_BYTES) {
      this.#pieces.push(new Uint8Array(PIECE_BYTES));
      this.#used = 0;
    }
    if (number >= this.#starts.length) {
      const larger = new Uint32Array(
        Math.max(number + 1, 2 * this.#starts.length, FIRST_PLACES),
      );
      larger.set(this.#starts);
      this.#starts = larger;
    }
    const piece = this.#pieces.at(-1)!;
    this.#starts[number] = (this.#pieces.length - 1) * PIECE_BYTES + this.#used;
    piece[this.#used++] = id.length >> 8;
    piece[this.#used++] = id.length & 0xff;
    for (let i = 0; i < id.length; i++) piece[this.#used++] = id.charCodeAt(i);
  }

  #grow(): void {
    const before = this.#places;
    const length = Math.max(2 * before.length, FIRST_PLACES);
    this.#places = new Uint32Array(length).fill(FREE);
    for (const number of before) {
      if (number === FREE) continue;
      const id = this.#read(number);
      const place = this.#find(id, hashOf(id)!);
      if (place === undefined) {
        this.#others.set(id, number);
        this.#packed--;
      } else this.#places[place] = number;
    }
  }

  #read(number: number): string {
    const start = this.#starts[number]!;
    const piece = this.#pieces[Math.floor(start / PIECE_BYTES)]!;
    const at = start % PIECE_BYTES;
    const length = piece[at]! << 8 | piece[at + 1]!;
    return String.fromCharCode(...piece.subarray(at + 2, at + 2 + length));
  }
}

/** FNV-1a with its bits mixed; undefined for what is kept as a string. */
function hashOf(id: string): number | undefined {
  if (id.length > MAX_PACKED_LENGTH) return undefined;
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code > 0x7f) return undefined;
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  return (hash ^ hash >>> 13) >>> 0;
}
