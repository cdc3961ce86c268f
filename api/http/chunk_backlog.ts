/** What reading a body chunk by chunk costs beside its bytes. @module */

/** Bytes that Deno's server takes from a connection at a time at most. */
const PULL_BYTES = 64 * 1024;

/** Bytes that a chunk is read into, with the line that says how long it is. */
export const READ_BYTES = PULL_BYTES + 32;

/**
 * Bytes that are moved for one body at most: some tenths of a second. Chunks of 32
 * KiB and more that come as fast as they are read stay below, up to 16 MiB.
 */
const MAX_MOVED_BYTES = 4 * 1024 ** 3;

/**
 * Bytes less in the server's hands after each wait: then it had none, but for
 * the waits that it puts in now and then, so that others get a turn.
 */
const BYTES_A_WAIT = 8 * READ_BYTES;

/**
 * An estimate of the work that the chunks of a body make for Deno's server.
 * Whoever asks it for the next chunk gets one, of a byte perhaps, while it takes
 * another 64 KiB from the connection behind what it holds; and then it moves all
 * of that to the front. So the chunks of a client that sends faster than they
 * are read pile up, and cost by the square of their number: four clients that
 * sent 2,000 bytes at a time kept everybody waiting for seconds, with single
 * bytes for minutes. (SECURITY §9)
 *
 * What comes more slowly than it is read piles up nowhere: packets of a slow
 * network are small as well.
 *
 * @example
 * ```ts
 * import { ChunkBacklog } from "./chunk_backlog.ts";
 * import { assert } from "@std/assert";
 *
 * const slow = new ChunkBacklog();
 * const fast = new ChunkBacklog();
 * for (let i = 0; i < 1_000; i++) {
 *   slow.took(536, true);
 *   fast.took(536, false);
 * }
 * assert(!slow.isTooMuch);
 * assert(fast.isTooMuch);
 * ```
 */
export class ChunkBacklog {
  #bytes = 0;
  #moved = 0;

  /**
   * Counts a chunk that was read.
   *
   * @param length Its bytes.
   * @param hadToWait Whether it was not there yet when it was asked for.
   */
  took(length: number, hadToWait: boolean): void {
    if (hadToWait) this.#bytes = Math.max(0, this.#bytes - BYTES_A_WAIT);
    this.#bytes += Math.max(0, PULL_BYTES - length);
    this.#moved += this.#bytes;
  }

  /** Bytes that the server may hold and nobody has read. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the rest must be left where it is. */
  get isTooMuch(): boolean {
    return this.#moved > MAX_MOVED_BYTES;
  }
}
