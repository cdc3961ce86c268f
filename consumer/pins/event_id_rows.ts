/** The rows of the `event_id`s of a feed that is read from its start. @module */

import { encodeBase64Url } from "@std/encoding/base64url";
import type { DigestedIds } from "./digested_ids.ts";
import type { PinRow } from "./pin_store.ts";
import { eventIdKey } from "./row_keys.ts";

/** As many as 16 bits can name. */
const ROWS = 0x1_0000;

/** The rows of all `event_id`s, by their keys; in each in the order of the feed. */
export function* eventIdRows(eventIds: DigestedIds): Generator<PinRow> {
  const rowOf = (event: number) => {
    const [high = 0, low = 0] = eventIds.digestOf(event);
    return high << 8 | low;
  };
  const { size } = eventIds;
  const ends = new Uint32Array(ROWS + 1);
  for (let event = 0; event < size; event++) ends[rowOf(event) + 1]!++;
  for (let row = 0; row < ROWS; row++) ends[row + 1]! += ends[row]!;
  const starts = ends.slice();
  const events = new Uint32Array(size);
  for (let event = 0; event < size; event++) {
    events[starts[rowOf(event)]!++] = event;
  }
  for (let row = 0; row < ROWS; row++) {
    let digests = "";
    for (const event of events.subarray(ends[row], ends[row + 1])) {
      digests += encodeBase64Url(eventIds.digestOf(event).subarray(2));
    }
    if (digests !== "") yield [eventIdKey(row), digests];
  }
}
