import { assertEquals } from "@std/assert";
import { CompactIds } from "./compact_ids.ts";

/** Identifiers of every kind, and those that differ from one by little. */
function kinds(): readonly string[] {
  const ids = [
    "",
    "a",
    "aa",
    "é",
    "e\u0301",
    "\ud800",
    "\udfff",
    "\ufffd",
    "😀",
  ];
  for (const length of [255, 256, 511, 512, 513, 5_000]) {
    ids.push("x".repeat(length), `${"x".repeat(length - 1)}y`);
  }
  return ids;
}

Deno.test("an identifier is found under its number, and no other is", () => {
  const all = new CompactIds();
  const numbers = new Map<string, number>();
  const add = (id: string) => {
    assertEquals(all.indexOf(id), -1);
    numbers.set(id, all.add(id));
  };
  kinds().forEach(add);
  // Enough to grow several times and to fill more than one piece of memory.
  for (let i = 0; i < 30_000; i++) add(`event-${i}-${"0".repeat(i % 40)}`);
  assertEquals(all.size, numbers.size);
  let expected = 0;
  for (const [id, number] of numbers) {
    assertEquals(number, expected++);
    assertEquals(all.indexOf(id), number, id.slice(0, 40));
    assertEquals(all.indexOf(`${id}!`), -1);
  }
});

Deno.test("identifiers made to collide are found all the same, and fast", () => {
  const colliding = collidingIds(100);
  const all = new CompactIds();
  for (const id of colliding) {
    assertEquals(all.indexOf(id), -1);
    all.add(id);
  }
  colliding.forEach((id, i) => assertEquals(all.indexOf(id), i));
  // Others grow the table: those that were put aside must stay known.
  for (let i = 0; i < 5_000; i++) all.add(`other-${i}`);
  colliding.forEach((id, i) => assertEquals(all.indexOf(id), i));
  assertEquals(all.indexOf("other-4999"), 5_099);
});

/** Texts that begin at the same place of every table up to 16,384 places. */
function collidingIds(count: number): readonly string[] {
  const found: string[] = [];
  for (let i = 0; found.length < count; i++) {
    const id = `id-${i.toString(36)}`;
    if ((hash(id) & 0x3fff) === 7) found.push(id);
  }
  return found;
}

/** The hash that is attacked. */
function hash(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) {
    hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  return (hash ^ hash >>> 13) >>> 0;
}
