/** Which history a cursor has come through, and not only how far. @module */

import { SigError } from "@sig/core";
import { damaged } from "../pins/pin_store.ts";
import { BLOCK_EVENTS } from "../pins/row_keys.ts";
import { Sha256 } from "../pins/sha256.ts";
import { readBlock, type StoredState } from "../pins/stored_state.ts";
import { readMarks } from "./remembered_issuer.ts";
import {
  BEGIN_ANEW,
  type CursorPosition,
  type SeenEvents,
} from "./watch_cursor.ts";

/**
 * What was seen up to the cursor, as the store has it. A state that is kept only
 * grows, so one of the same name needs no look; in another one, somebody may have
 * accepted another history.
 *
 * @param events How many were seen; said here where the cursor is new.
 * @throws {SigError} `feed_rewritten` where events that were seen are others now;
 * `store_unavailable`.
 * @throws {StateMoved}
 */
export async function openSeenHistory(
  stored: StoredState,
  { history }: Partial<CursorPosition>,
  events: number,
): Promise<SeenHistory> {
  const { state } = stored.ref;
  if (history?.state === state) {
    const digest = Sha256.load(history.digest);
    if (digest === undefined) throw damaged(stored.store.place, "a cursor");
    return new SeenHistory(state, digest, await marksAfter(stored, events));
  }
  const marks = (await readMarks(stored)).slice(0);
  const digest = new Sha256();
  for (const mark of marks.slice(0, events)) digest.update(bytesOf(mark));
  if (history !== undefined && history.digest !== digest.save()) {
    throw new SigError(
      "feed_rewritten",
      `Cannot watch: events up to ${events} were seen that are others in the ` +
        "history which was accepted since",
      { context: { sequence: events, hint: BEGIN_ANEW } },
    );
  }
  return new SeenHistory(state, digest, marks.slice(events));
}

/** A history that is seen event by event. */
export class SeenHistory {
  readonly #state: string;
  readonly #digest: Sha256;
  readonly #coming: readonly number[];
  #seen = 0;

  /** @param coming The marks of the events that come next. */
  constructor(state: string, digest: Sha256, coming: readonly number[]) {
    this.#state = state;
    this.#digest = digest;
    this.#coming = coming;
  }

  /** What was seen so far. */
  get seen(): SeenEvents {
    return { state: this.#state, digest: this.#digest.save() };
  }

  /** The same once the next event was seen. */
  next(): SeenEvents {
    this.#digest.update(bytesOf(this.#coming[this.#seen++]!));
    return this.seen;
  }
}

async function marksAfter(
  stored: StoredState,
  events: number,
): Promise<readonly number[]> {
  const marks: number[] = [];
  const { lastSequence } = stored;
  for (let at = events; at < lastSequence;) {
    const block = await readBlock(stored, at + 1);
    const end = Math.min(at - at % BLOCK_EVENTS + BLOCK_EVENTS, lastSequence);
    for (; at < end; at++) {
      const mark = block.marks[at % BLOCK_EVENTS];
      if (mark === undefined) {
        throw damaged(stored.store.place, "a block of events");
      }
      marks.push(mark);
    }
  }
  return marks;
}

function bytesOf(mark: number): Uint8Array {
  return Uint8Array.of(
    ...[mark >>> 24, mark >>> 16 & 255, mark >>> 8 & 255, mark & 255],
  );
}
