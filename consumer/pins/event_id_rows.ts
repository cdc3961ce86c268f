/** The rows of the `event_id`s of a feed that is read from its start. @module */

import { encodeBase64Url } from "@std/encoding/base64url";
import type { DigestedIds } from "./digested_ids.ts";
import { inGroups } from "./in_groups.ts";
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
  let row = 0;
  for (const events of inGroups(eventIds.size, ROWS, rowOf)) {
    let digests = "";
    for (const event of events) {
      digests += encodeBase64Url(eventIds.digestOf(event).subarray(2));
    }
    if (digests !== "") yield [eventIdKey(row), digests];
    row++;
  }
}
