/** The `event_id`s of a feed that is read from its start. @module */

import type { SigEvent, UnknownEvent } from "@sig/core";
import { encodeBase64Url } from "@std/encoding/base64url";
import type { PinRow } from "./pin_store.ts";
import { EVENT_ID_BYTES, eventIdBytes, eventIdKey } from "./row_keys.ts";

/** Events whose bytes lie in one piece; pieces are never copied. */
const PIECE_EVENTS = 16_384;

/** As many as 16 bits can name. */
const ROWS = 0x1_0000;

/**
 * Digests of `event_id`s, in 18 bytes each: as texts they would take a tenth of
 * what there is for a million events.
 */
export class EventDigests {
  #pieces: Uint8Array[] = [];
  #events = 0;

  /** Takes an event; the first one of a feed begins anew. */
  note({ sequence, event_id }: SigEvent | UnknownEvent): void {
    if (sequence === 1) {
      this.#pieces = [];
      this.#events = 0;
    }
    const at = this.#events++ % PIECE_EVENTS;
    if (at === 0) {
      this.#pieces.push(new Uint8Array(PIECE_EVENTS * EVENT_ID_BYTES));
    }
    this.#pieces.at(-1)!.set(eventIdBytes(event_id), at * EVENT_ID_BYTES);
  }

  /** Their rows, by their keys; in each in the order of the feed. */
  *rows(): Generator<PinRow> {
    const ends = new Uint32Array(ROWS + 1);
    for (let event = 0; event < this.#events; event++) {
      ends[this.#rowOf(event) + 1]!++;
    }
    for (let row = 0; row < ROWS; row++) ends[row + 1]! += ends[row]!;
    const starts = ends.slice();
    const events = new Uint32Array(this.#events);
    for (let event = 0; event < this.#events; event++) {
      events[starts[this.#rowOf(event)]!++] = event;
    }
    for (let row = 0; row < ROWS; row++) {
      let digests = "";
      for (const event of events.subarray(ends[row], ends[row + 1])) {
        digests += encodeBase64Url(this.#bytesOf(event).subarray(2));
      }
      if (digests !== "") yield [eventIdKey(row), digests];
    }
  }

  #rowOf(event: number): number {
    const [high = 0, low = 0] = this.#bytesOf(event);
    return high << 8 | low;
  }

  #bytesOf(event: number): Uint8Array {
    const piece = this.#pieces[Math.floor(event / PIECE_EVENTS)]!;
    const at = event % PIECE_EVENTS * EVENT_ID_BYTES;
    return piece.subarray(at, at + EVENT_ID_BYTES);
  }
}
