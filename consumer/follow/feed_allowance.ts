/** How much memory reading an issuer's feed may take. @module */

import type { Places } from "../verify/places.ts";

/** Up to here a feed needs no place: it is read sooner than a line moves. */
const SMALL_FEED_BYTES = 64 * 1024;

/** Room is made each time that so many bytes came in addition. */
const BYTES_PER_STEP = 1024 * 1024;

/**
 * Counts what is read of one issuer's feed and is not remembered yet. Beyond a
 * small feed it needs one of a few places: whoever may name any issuer could
 * else have any number of large feeds in memory at once, all unfinished.
 */
export class FeedAllowance {
  readonly #places: Places;
  readonly #makeRoom: () => void;
  #known = 0;
  #read = 0;
  #hasPlace = false;

  constructor(places: Places, makeRoom: () => void) {
    this.#places = places;
    this.#makeRoom = makeRoom;
  }

  /** Bytes of the work in progress. */
  get bytes(): number {
    return Math.max(0, this.#read - this.#known);
  }

  /**
   * The bytes of one reading, each chunk once there is a place for it.
   *
   * @param knownBytes Bytes at the beginning that take no memory, since they
   * are only compared with what is known.
   * @throws {SigError} `overloaded`
   */
  async *follow(
    bytes: AsyncIterable<Uint8Array>,
    knownBytes: number,
  ): AsyncGenerator<Uint8Array> {
    this.#known = knownBytes;
    this.#read = 0;
    for await (const chunk of bytes) {
      const before = this.bytes;
      this.#read += chunk.length;
      if (!this.#hasPlace && this.bytes > SMALL_FEED_BYTES) {
        await this.#places.enter();
        this.#hasPlace = true;
      }
      if (stepOf(before) !== stepOf(this.bytes)) this.#makeRoom();
      yield chunk;
    }
  }

  /** The work is done, and what came of it is in the record. */
  end(): void {
    this.#read = 0;
    if (this.#hasPlace) this.#places.leave();
    this.#hasPlace = false;
    this.#makeRoom();
  }
}

function stepOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_STEP);
}
