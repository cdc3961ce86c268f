import { assertEquals } from "@std/assert";
import { DigestedIds } from "./digested_ids.ts";
import { eventIdRows } from "./event_id_rows.ts";
import { eventIdDigest } from "./row_keys.ts";

Deno.test("the rows hold each event's digest once, in the order of the feed", () => {
  const eventIds = new DigestedIds();
  const expected = new Map<string, string>();
  // More than a piece of memory holds, so that rows have several.
  for (let i = 1; i <= 40_000; i++) {
    const { key, digest } = eventIdDigest(`event-${i}`);
    expected.set(key, (expected.get(key) ?? "") + digest);
    eventIds.add(`event-${i}`);
  }
  const rows = [...eventIdRows(eventIds)];
  assertEquals(new Map(rows), expected);
  assertEquals(rows.length, expected.size);
  assertEquals(rows.map(([key]) => key), [...expected.keys()].sort());
});
