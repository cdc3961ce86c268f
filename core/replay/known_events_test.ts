import { assertEquals } from "@std/assert";
import {
  assertFindsAll,
  assertFindsUnasked,
} from "../../tests/kit/numbered_ids.ts";
import { CompactIds } from "./known_events.ts";

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

function* manyIds(): Generator<string> {
  yield* kinds();
  // Enough to grow several times and to fill more than one piece of memory.
  for (let i = 0; i < 30_000; i++) yield `event-${i}-${"0".repeat(i % 40)}`;
}

Deno.test("an identifier is found under its number, and no other is", () =>
  assertFindsAll(new CompactIds(), manyIds()));

Deno.test("an identifier that is added without being asked for is found", () =>
  assertFindsUnasked(new CompactIds()));

Deno.test("an identifier of any kind is found that comes behind many others", () => {
  for (const isAskedFor of [true, false]) {
    const all = new CompactIds();
    for (let i = 0; i < 200; i++) all.add(`event-${i}`);
    kinds().forEach((id, i) => {
      if (isAskedFor) assertEquals(all.indexOf(id), -1);
      assertEquals(all.add(id), 200 + i);
    });
    // One whose characters have the same last eight bits is another one.
    assertEquals(all.indexOf("\u00e9"), 203);
    assertEquals(all.indexOf("\u01e9"), -1);
    for (let i = 0; i < 5_000; i++) all.add(`other-${i}`);
    kinds().forEach((id, i) =>
      assertEquals(all.indexOf(id), 200 + i, id.slice(0, 40))
    );
  }
});

Deno.test("identifiers behind many that are kept as strings are found", () => {
  const all = new CompactIds();
  const ids = Array.from({ length: 9_000 }, (_, i) =>
    // Few are packed, and their numbers are far above the places that they need.
    i % 64 === 63 || i < 200 ? `event-${i}` : `é-${i}`);
  for (const [i, id] of ids.entries()) assertEquals(all.add(id), i);
  ids.forEach((id, i) => assertEquals(all.indexOf(id), i));
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
  const mixed = (hash: number, four: number) => {
    hash = Math.imul(hash ^ four, 0x9e3779b1);
    return hash ^ hash >>> 15;
  };
  let hash = id.length;
  let i = 0;
  for (; i + 4 <= id.length; i += 4) {
    let four = 0;
    for (let j = 3; j >= 0; j--) four = four << 8 | id.charCodeAt(i + j);
    hash = mixed(hash, four);
  }
  let rest = 0;
  for (; i < id.length; i++) rest = rest << 8 | id.charCodeAt(i);
  hash = mixed(hash, rest);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 1;
}
