/** Numbers for the strings of a large feed. @module */

/** The number of strings in a block. */
const BLOCK_STRINGS = 256;
const FIRST_SLOTS = 16;
const EMPTY = -1;

/**
 * Gives each distinct string a number, from 0 in the order of their first
 * addition. It takes less memory than a `Map`: the characters, joined to one
 * string per block, and about 20 bytes of arrays for each string. It is exact:
 * characters are compared, not only hashes.
 */
export class StringNumbers {
  /** The joined strings of each full block. */
  readonly #blocks: string[] = [];
  /** The strings of the block that is not full. */
  #rest: string[] = [];
  /** By number: where a string begins in its block, and its hash. */
  #starts = new Uint32Array(FIRST_SLOTS);
  #hashes = new Uint32Array(FIRST_SLOTS);
  /** An open hash table of the numbers, at most half full. */
  #slots = new Int32Array(2 * FIRST_SLOTS).fill(EMPTY);
  #size = 0;
  #restLength = 0;
  readonly #hash: (text: string) => number;

  /** @param hash Returns an integer from 0 to 2^32-1 (default: a good one). */
  constructor(hash = unpredictableHash()) {
    this.#hash = hash;
  }

  /** The number of distinct strings. */
  get size(): number {
    return this.#size;
  }

  /** Returns the number of a string; -1 if it was not added. */
  find(text: string): number {
    return this.#slots[this.#slotOf(text, this.#hash(text))]!;
  }

  /** Returns the number of a string, which is added if it is new. */
  add(text: string): number {
    const hash = this.#hash(text);
    const slot = this.#slotOf(text, hash);
    const found = this.#slots[slot]!;
    if (found !== EMPTY) return found;
    if (this.#size === this.#hashes.length) this.#grow();
    const number = this.#size++;
    this.#starts[number] = this.#restLength;
    this.#hashes[number] = hash;
    this.#slots[this.#freeSlot(hash)] = number;
    this.#rest.push(text);
    this.#restLength += text.length;
    if (this.#rest.length === BLOCK_STRINGS) {
      this.#blocks.push(this.#rest.join(""));
      this.#rest = [];
      this.#restLength = 0;
    }
    return number;
  }

  /** Returns the slot of a string, or the free slot where it belongs. */
  #slotOf(text: string, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask;; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]!;
      if (number === EMPTY) return slot;
      if (this.#hashes[number] === hash && this.#is(number, text)) return slot;
    }
  }

  #is(number: number, text: string): boolean {
    const at = number % BLOCK_STRINGS;
    const block = this.#blocks[(number - at) / BLOCK_STRINGS];
    if (block === undefined) return this.#rest[at] === text;
    const start = this.#starts[number]!;
    const isLast = at === BLOCK_STRINGS - 1;
    const end = isLast ? block.length : this.#starts[number + 1]!;
    return end - start === text.length && block.startsWith(text, start);
  }

  #freeSlot(hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== EMPTY) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const length = 2 * this.#hashes.length;
    this.#starts = copyOf(this.#starts, length);
    this.#hashes = copyOf(this.#hashes, length);
    this.#slots = new Int32Array(2 * length).fill(EMPTY);
    for (let number = 0; number < this.#size; number++) {
      this.#slots[this.#freeSlot(this.#hashes[number]!)] = number;
    }
  }
}

function copyOf(array: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(length);
  copy.set(array);
  return copy;
}

/** Returns a hash for which no feed can have many strings of the same hash. */
function unpredictableHash(): (text: string) => number {
  const random = () => Math.floor(2 ** 32 * Math.random());
  const seed = random();
  const factor = random() | 1;
  return (text) => {
    let hash = seed;
    for (let i = 0; i < text.length; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(i), factor);
      hash ^= hash >>> 15;
    }
    return hash >>> 0;
  };
}
