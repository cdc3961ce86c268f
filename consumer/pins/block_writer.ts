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
}

/** Takes a feed's events from the first on, and gives their blocks. */
export class BlockWriter {
  readonly #marks: SignatureMarks;
  #events = 0;
  #last: FillingBlock | undefined;
  /** By the number of events before each. */
  readonly #changed = new Map<number, FillingBlock>();

  /** @param marks Those of the events, and perhaps of more. */
  constructor(marks: SignatureMarks) {
    this.#marks = marks;
  }

  /** Takes the next event. */
  add({ issued_at }: SigEvent | UnknownEvent): void {
    const at = storedInstant(validInstant(issued_at));
    const inBlock = this.#events % BLOCK_EVENTS;
    const last = this.#last;
    const block = last === undefined || inBlock === 0
      ? { latest: last?.latest ?? at, issuedAt: [] }
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
    for (const [before, { latest, issuedAt }] of changed) {
      const end = before + issuedAt.length;
      const marks = this.#marks.slice(before, end);
      const block: StoredBlock = { latest, issuedAt, marks };
      yield [blockKey(end), JSON.stringify(block)];
    }
  }
}
