import { assertEquals, assertThrows } from "@std/assert";
import { HistoryBuilder } from "./history.ts";
import { parseTimestamp } from "../text/timestamp.ts";
import { ALICE, day, revoke, upsert } from "../../tests/kit/events.ts";

const instant = (text: string) => parseTimestamp(text)!;

Deno.test("the prefix known at an instant ends before the first later event", () => {
  const history = new HistoryBuilder();
  // The third was issued after the fourth, so the prefix ends before it.
  const issued = [day(1), day(2), day(9), day(3), day(9)];
  for (const [i, issued_at] of issued.entries()) {
    history.add(upsert(i + 1, { issued_at }), true);
  }
  const table: readonly (readonly [string, number])[] = [
    ["2025-12-31T23:59:59.999999999Z", 0],
    [day(1), 1],
    ["2026-01-01T23:59:59.999999999Z", 1],
    [day(2), 2],
    [day(3), 2],
    [day(8, "T23:59:59.999999999Z"), 2],
    [day(9), 5],
    [day(30), 5],
  ];
  for (const [text, events] of table) {
    assertEquals(history.prefixAt(instant(text)), events, text);
  }
  assertEquals(new HistoryBuilder().prefixAt(instant(day(1))), 0);
});

Deno.test("an event without effect only adds its time", () => {
  const history = new HistoryBuilder();
  history.add(revoke(1), false);
  const at = day(2, "T00:00:00.000000001Z");
  history.add({ ...upsert(2), event_type: "x", issued_at: at }, false);
  assertEquals(history.versions.size, 0);
  assertEquals(history.relationshipsOf(ALICE).size, 0);
  assertEquals(history.issuedAt(2), instant(at));
  assertEquals(history.prefixAt(instant(at)), 2);
  assertEquals(history.prefixAt(instant(day(2))), 1);
});

Deno.test("a relationship is found by each of its past and present subjects", () => {
  const bob = { subject: "did:web:bob.example" };
  const history = new HistoryBuilder();
  history.add(upsert(1), true);
  history.add(upsert(2, bob), true);
  history.add(upsert(3), true);
  assertEquals([...history.relationshipsOf(ALICE)], ["r1"]);
  assertEquals([...history.relationshipsOf(bob.subject)], ["r1"]);
  assertEquals([...history.relationshipsOf("__proto__")], []);
});

Deno.test("a revoke ends earlier versions at the earlier of its two instants", () => {
  const endOf = (issued_at: string, effective_at: string) => {
    const history = new HistoryBuilder();
    history.add(upsert(1), true);
    history.add(revoke(2, { issued_at, effective_at }), true);
    return history.versions.get("r1")?.at(-1)?.endsEarlierFrom;
  };
  assertEquals(endOf(day(5), day(3)), instant(day(3)));
  assertEquals(endOf(day(5), day(9)), instant(day(5)));
  assertEquals(endOf(day(5), day(5)), instant(day(5)));
});

Deno.test("a copy may end before its original", () => {
  const history = new HistoryBuilder();
  history.add(upsert(1), true);
  history.add(revoke(2), true);
  history.add(upsert(3, { relationship_id: "r2" }), true);
  const copy = history.until(1);
  assertEquals([...copy.versions.keys()], ["r1"]);
  assertEquals(copy.versions.get("r1")?.length, 1);
  assertThrows(
    () => copy.issuedAt(2),
    RangeError,
    "Cannot find event 2: it is not replayed",
  );
});
