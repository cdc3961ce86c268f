/** A few bytes of every signature, to find where two histories part. @module */

/** Marks kept at first; the room doubles as it fills. */
const FIRST_ROOM = 256;

/**
 * Remembers 4 bytes of each event's signature, in order. Another event under
 * the same sequence has another signature, so this names the first event that
 * differs; it is a place to look at, and decides nothing.
 */
export class SignatureMarks {
  #marks = new Uint32Array(FIRST_ROOM);
  #length = 0;

  /** Takes the next event's signature, of at least 4 bytes. */
  add(signature: Uint8Array): void {
    if (this.#length === this.#marks.length) {
      const larger = new Uint32Array(2 * this.#length);
      larger.set(this.#marks);
      this.#marks = larger;
    }
    const [a = 0, b = 0, c = 0, d = 0] = signature;
    this.#marks[this.#length++] = (a << 24) | (b << 16) | (c << 8) | d;
  }

  /** The first of the first `events` events that differs, from 1. */
  firstDifference(other: SignatureMarks, events: number): number | undefined {
    const end = Math.min(events, this.#length, other.#length);
    for (let i = 0; i < end; i++) {
      if (this.#marks[i] !== other.#marks[i]) return i + 1;
    }
    return undefined;
  }
}
