import { assertEquals } from "@std/assert";
import { ChangeList } from "../ask/change_list.ts";
import { upsert } from "../../tests/kit/events.ts";
import { FeedNotes } from "./feed.ts";

// With quadratic work these would take hours.
Deno.test("long texts and role lists take linear time", () => {
  const examination = new FeedNotes();
  for (const part of ["a", "a.", "a@", "a@a.", "+1 2", "born 1"]) {
    const event = upsert(1, { reason: part.repeat(1_000_000) });
    examination.add({ event, kid: "k1", line: 1, isVoid: false });
  }
  const roles = (from: number) =>
    Array.from({ length: 200_000 }, (_, i) => `r${from + i}`);
  const list = new ChangeList();
  const [, second] = ([[1, 0], [2, 1]] as const).flatMap(([sequence, from]) => {
    const event = upsert(sequence, { roles: roles(from) });
    return list.add({ event, kid: "k1", isVoid: false });
  });
  assertEquals(second?.roles_gained, ["r200000"]);
  assertEquals(second?.roles_lost, ["r0"]);
});
