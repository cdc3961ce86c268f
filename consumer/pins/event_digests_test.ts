import { assertEquals } from "@std/assert";
import { EventDigests } from "./event_digests.ts";
import { eventIdDigest } from "./row_keys.ts";
import { upsert } from "../../tests/kit/events.ts";

Deno.test("the rows hold each event's digest once, in the order of the feed", () => {
  const digests = new EventDigests();
  const expected = new Map<string, string>();
  const note = (sequence: number, event_id: string) =>
    digests.note({ ...upsert(sequence), event_id });
  // What was read before a feed is read anew does not count.
  for (let i = 1; i <= 10; i++) note(i, `before-${i}`);
  // More than a piece of memory holds, so that rows have several.
  for (let i = 1; i <= 40_000; i++) {
    const { key, digest } = eventIdDigest(`event-${i}`);
    expected.set(key, (expected.get(key) ?? "") + digest);
    note(i, `event-${i}`);
  }
  const rows = [...digests.rows()];
  assertEquals(new Map(rows), expected);
  assertEquals(rows.length, expected.size);
  assertEquals(rows.map(([key]) => key), [...expected.keys()].sort());
});
