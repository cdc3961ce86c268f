/** The rows that say when a feed's events were issued. @module */

import { type SigEvent, type UnknownEvent, validInstant } from "@sig/core";
import type { SignatureMarks } from "../verify/signature_marks.ts";
import {
  laterOf,
  type StoredBlock,
  type StoredInstant,
  storedInstant,
} from "./feed_rows.ts";
import type { PinRow } from "./pin_store.ts";
import { BLOCK_EVENTS, blockKey } from "./row_keys.ts";

/** A block that fills. */
interface FillingBlock {
  latest: StoredInstant;
  readonly issuedAt: StoredInstant[];
  /** Marks of its events that were stored before. */
  readonly marks: readonly number[];
}

/** Takes a feed's events one after the other, and gives their blocks. */
export class BlockWriter {
  readonly #marks: SignatureMarks;
  /** Marks before those of its events. */
  readonly #marksBefore: number;
  readonly #eventsBefore: number;
  #events: number;
  #last: FillingBlock | undefined;
  /** By the number of events before each. */
  readonly #changed = new Map<number, FillingBlock>();

  /**
   * @param marks Gets those of the events that come from now on.
   * @param events How many are stored already.
   * @param block The block of the last one of them.
   */
  constructor(marks: SignatureMarks, events = 0, block?: StoredBlock) {
    this.#marks = marks;
    this.#marksBefore = marks.length;
    this.#events = this.#eventsBefore = events;
    if (block === undefined) return;
    const known = (events - 1) % BLOCK_EVENTS + 1;
    this.#last = {
      latest: block.latest,
      issuedAt: block.issuedAt.slice(0, known),
      marks: block.marks.slice(0, known),
    };
  }

  /** Takes the next event. */
  add({ issued_at }: SigEvent | UnknownEvent): void {
    const at = storedInstant(validInstant(issued_at));
    const inBlock = this.#events % BLOCK_EVENTS;
    const last = this.#last;
    const block = last === undefined || inBlock === 0
      ? { latest: last?.latest ?? at, issuedAt: [], marks: [] }
      : last;
    block.latest = laterOf(block.latest, at);
    block.issuedAt.push(at);
    this.#last = block;
    this.#changed.set(this.#events - inBlock, block);
    this.#events++;
  }

  /** The rows that changed since they were asked for. */
  *rows(): Generator<PinRow> {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const [before, { latest, issuedAt, marks: known }] of changed) {
      const end = before + issuedAt.length;
      const from = before + known.length;
      const marks = [
        ...known,
        ...this.#marks.slice(
          this.#marksBefore + from - this.#eventsBefore,
          this.#marksBefore + end - this.#eventsBefore,
        ),
      ];
      const block: StoredBlock = { latest, issuedAt, marks };
      yield [blockKey(end), JSON.stringify(block)];
    }
  }
}
