import type { RelationshipState } from "@sig/core";
import { assertEquals } from "@std/assert";
import { writeMembers } from "./write_members.ts";

/** As many characters as wanted; what a state holds plays no role here. */
function entryOf(id: string, length: number) {
  const padding = "x".repeat(length - `"${id}":{"a":""}`.length);
  return [id, { a: padding } as unknown as RelationshipState] as const;
}

Deno.test("members are written until the next one would be too much", () => {
  const entries = ["a", "b", "c", "d"].map((id) => entryOf(id, 100));
  const ends = [[400, 4], [399, 3], [200, 2], [199, 1], [1, 1]] as const;
  for (const [maxLength, end] of ends) {
    const written = writeMembers(entries, 0, 4, maxLength);
    assertEquals(written.end, end);
    assertEquals(written.texts.length, end);
  }
});

Deno.test("one member is written whatever its length, so that pages go on", () => {
  const entries = [entryOf("a", 500), entryOf("b", 500)];
  assertEquals(writeMembers(entries, 0, 2, 100).end, 1);
  assertEquals(writeMembers(entries, 1, 2, 100).end, 2);
  assertEquals(writeMembers(entries, 2, 2, 100), { texts: [], end: 2 });
});

Deno.test("identifiers that an object would reorder or lose stand as they are", () => {
  const entries = ["10", "9", "__proto__"].map((id) =>
    [id, {} as unknown as RelationshipState] as const
  );
  assertEquals(
    writeMembers(entries, 0, 3).texts.join(),
    '"10":{},"9":{},"__proto__":{}',
  );
});
