/**
 * What the rules of a feed remember of earlier events (docs/protocol.md §4).
 *
 * Of a million events about a million people, a `Set` and a `Map` of strings
 * take 218 MiB; here an identifier takes its characters and 10 to 16 bytes.
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
 * Slots that are searched for an identifier. An issuer that makes identifiers
 * with the same first slot has them kept as strings, and gains nothing.
 */
const MAX_PROBES = 64;

/** So many are kept as strings first: a writer asks about one event each time. */
const FEW = 64;

const FIRST_PLACES = 1_024;

/** No word of a place, and no start of an identifier. */
const FREE = 0xffff_ffff;

/** Numbers identifiers from 0 in the order in which they come. */
export class CompactIds {
  readonly #pieces: Uint8Array[] = [];
  /** Bytes used of the last piece. */
  #used = PIECE_BYTES;
  /**
   * Where each identifier stands in the pieces, its length before it; FREE for
   * one that is not packed.
   */
  #starts = new Uint32Array();
  /**
   * Open addressing, at most half of the places. A word's low bits are a number;
   * the others are of its hash, so that a search hardly ever reads the
   * identifier of another one, far away in memory.
   */
  #places = new Uint32Array();
  /** How many bits of a word are a number. */
  #numberBits = 0;
  /** Those that are not packed. */
  readonly #others = new Map<string, number>();
  #packed = 0;
  #size = 0;
  /** What was asked for last, its hash, and its place or -1. */
  #sought: string | undefined;
  #hash = 0;
  #place = -1;

  /** How many. */
  get size(): number {
    return this.#size;
  }

  /** The number of an identifier; -1 for one that is not here. */
  indexOf(id: string): number {
    const hash = this.#packed === 0 ? -1 : hashOf(id);
    if (hash >= 0) {
      const place = this.#find(id, hash);
      this.#sought = id;
      this.#hash = hash;
      this.#place = place;
      if (place >= 0 && this.#places[place]! !== FREE) {
        return this.#numberIn(this.#places[place]!);
      }
    }
    return this.#others.size === 0 ? -1 : this.#others.get(id) ?? -1;
  }

  /** Adds an identifier that is not here, and returns its number. */
  add(id: string): number {
    const number = this.#size++;
    const mayPack = number >= FEW && this.#pieces.length < MAX_PIECES;
    // Mostly it was asked for just now.
    const isSought = this.#sought === id;
    const hash = !mayPack ? -1 : isSought ? this.#hash : hashOf(id);
    if (hash < 0) {
      this.#others.set(id, number);
      return number;
    }
    const mustGrow = 2 * this.#packed >= this.#places.length ||
      number >= 2 ** this.#numberBits - 1;
    if (mustGrow) this.#grow(number);
    const place = isSought && !mustGrow ? this.#place : this.#find(id, hash);
    this.#sought = undefined;
    if (place < 0) {
      this.#others.set(id, number);
      return number;
    }
    this.#places[place] = this.#wordOf(number, hash);
    this.#packed++;
    this.#write(id, number);
    return number;
  }

  /** Where the identifier is, or would be; -1 after too many others. */
  #find(id: string, hash: number): number {
    const places = this.#places;
    const mask = places.length - 1;
    const tag = this.#wordOf(0, hash) >>> this.#numberBits;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const place = placeOf(hash, probe, mask);
      const word = places[place]!;
      if (
        word === FREE ||
        word >>> this.#numberBits === tag &&
          this.#isAt(id, this.#numberIn(word))
      ) return place;
    }
    return -1;
  }

  /** A number, and above it as many of the hash's 31 bits as have room. */
  #wordOf(number: number, hash: number): number {
    const bits = this.#numberBits;
    return (hash >>> (bits - 1) << bits | number) >>> 0;
  }

  #numberIn(word: number): number {
    return word & (2 ** this.#numberBits - 1);
  }

  #isAt(id: string, number: number): boolean {
    const start = this.#starts[number]!;
    const piece = this.#pieces[Math.floor(start / PIECE_BYTES)]!;
    const at = start % PIECE_BYTES;
    if ((piece[at]! << 8 | piece[at + 1]!) !== id.length) return false;
    // From their ends: what differs in identifiers is there, most often.
    for (let i = id.length - 1; i >= 0; i--) {
      if (piece[at + 2 + i] !== id.charCodeAt(i)) return false;
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
      ).fill(FREE, this.#starts.length);
      larger.set(this.#starts);
      this.#starts = larger;
    }
    const piece = this.#pieces.at(-1)!;
    this.#starts[number] = (this.#pieces.length - 1) * PIECE_BYTES + this.#used;
    piece[this.#used++] = id.length >> 8;
    piece[this.#used++] = id.length & 0xff;
    for (let i = 0; i < id.length; i++) piece[this.#used++] = id.charCodeAt(i);
  }

  /** Makes room for another number, which may be far above the last one. */
  #grow(next: number): void {
    let { length } = this.#places;
    if (2 * this.#packed >= length) length = Math.max(2 * length, FIRST_PLACES);
    const places = new Uint32Array(length).fill(FREE);
    this.#places = places;
    this.#numberBits = 33 - Math.clz32(Math.max(next, length - 1));
    // In the order of their numbers, so in that of the pieces: the identifiers
    // themselves are read one behind the other.
    for (let number = 0; number < this.#starts.length; number++) {
      if (this.#starts[number] === FREE) continue;
      // No two are the same: only a free place is looked for.
      const hash = this.#hashAt(number);
      let probe = 0;
      let place = placeOf(hash, probe, length - 1);
      while (places[place] !== FREE && ++probe < MAX_PROBES) {
        place = placeOf(hash, probe, length - 1);
      }
      if (probe < MAX_PROBES) {
        places[place] = this.#wordOf(number, hash);
      } else {
        this.#others.set(this.#read(number), number);
        this.#starts[number] = FREE;
        this.#packed--;
      }
    }
  }

  #hashAt(number: number): number {
    const start = this.#starts[number]!;
    const piece = this.#pieces[Math.floor(start / PIECE_BYTES)]!;
    const from = start % PIECE_BYTES + 2;
    const end = from + (piece[from - 2]! << 8 | piece[from - 1]!);
    let hash = end - from;
    let i = from;
    for (; i + 4 <= end; i += 4) {
      hash = mixed(
        hash,
        piece[i]! | piece[i + 1]! << 8 | piece[i + 2]! << 16 |
          piece[i + 3]! << 24,
      );
    }
    let rest = 0;
    for (; i < end; i++) rest = rest << 8 | piece[i]!;
    return finished(mixed(hash, rest));
  }

  #read(number: number): string {
    const start = this.#starts[number]!;
    const piece = this.#pieces[Math.floor(start / PIECE_BYTES)]!;
    const at = start % PIECE_BYTES;
    const length = piece[at]! << 8 | piece[at + 1]!;
    return String.fromCharCode(...piece.subarray(at + 2, at + 2 + length));
  }
}

/** Triangular steps come to every place of a power of two. */
function placeOf(hash: number, probe: number, mask: number): number {
  return (hash + (probe * (probe + 1) >> 1)) & mask;
}

/** A hash of four characters at a time; -1 for what is kept as a string. */
function hashOf(id: string): number {
  const { length } = id;
  if (length > MAX_PACKED_LENGTH) return -1;
  let hash = length;
  let seen = 0;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    const a = id.charCodeAt(i);
    const b = id.charCodeAt(i + 1);
    const c = id.charCodeAt(i + 2);
    const d = id.charCodeAt(i + 3);
    seen |= a | b | c | d;
    hash = mixed(hash, a | b << 8 | c << 16 | d << 24);
  }
  let rest = 0;
  for (; i < length; i++) {
    const code = id.charCodeAt(i);
    seen |= code;
    rest = rest << 8 | code;
  }
  return seen > 0x7f ? -1 : finished(mixed(hash, rest));
}

function mixed(hash: number, four: number): number {
  hash = Math.imul(hash ^ four, 0x9e3779b1);
  return hash ^ hash >>> 15;
}

/** 31 bits, each of which all others had a part in. */
function finished(hash: number): number {
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 1;
}

/** The number of a relationship that no upsert was about. */
export const UNKNOWN = -1;

/** Relationships by number: whom each is about, and whether it is revoked. */
export class KnownRelationships {
  readonly #ids = new CompactIds();
  readonly #subjects = new CompactIds();
  /** Of each relationship twice its subject's number, and 1 if revoked. */
  #entries = new Uint32Array(256);

  /** Its number, or {@linkcode UNKNOWN}. */
  find(id: string): number {
    return this.#ids.indexOf(id);
  }

  /** Adds one that is unknown. */
  add(id: string, subject: string): void {
    const number = this.#ids.add(id);
    if (number >= this.#entries.length) {
      const larger = new Uint32Array(2 * this.#entries.length);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries[number] = 2 * this.#numberOf(subject);
  }

  /** Whether its last upsert named that subject. */
  isAbout(number: number, subject: string): boolean {
    return this.#entries[number]! >>> 1 ===
      this.#subjects.indexOf(subject);
  }

  /** Whether its last event was a revoke. */
  isRevoked(number: number): boolean {
    return (this.#entries[number]! & 1) === 1;
  }

  /** It is about another subject from now on. */
  setSubject(number: number, subject: string): void {
    const revoked = this.isRevoked(number);
    this.#entries[number] = 2 * this.#numberOf(subject);
    this.setRevoked(number, revoked);
  }

  /** Whether its last event was a revoke. */
  setRevoked(number: number, revoked: boolean): void {
    const subject = this.#entries[number]! >>> 1;
    this.#entries[number] = 2 * subject + (revoked ? 1 : 0);
  }

  #numberOf(subject: string): number {
    const known = this.#subjects.indexOf(subject);
    return known >= 0 ? known : this.#subjects.add(subject);
  }
}
