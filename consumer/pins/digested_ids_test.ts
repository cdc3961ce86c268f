import { assertEquals, assertThrows } from "@std/assert";
import { encodeHex } from "@std/encoding/hex";
import { DigestedIds } from "./digested_ids.ts";

/** Identifiers of every kind, and those that differ from one by little. */
const KINDS: readonly string[] = [
  ...["", "a", "aa", '"', "\\", '\\"', "\n", "\x7f", "é", "e\u0301", "😀"],
  // No Unicode: as UTF-8 they would all be the same.
  ...["\ud800", "\udfff", "\ufffd"],
  ...[53, 54, 55, 61, 62, 63, 255, 510, 511, 5_000].flatMap((length) => [
    "x".repeat(length),
    `${"x".repeat(length - 1)}y`,
  ]),
];

Deno.test("an identifier is found under its number, and no other is", () => {
  const all = new DigestedIds();
  const numbers = new Map<string, number>();
  const add = (id: string) => {
    assertEquals(all.indexOf(id), -1, id.slice(0, 40));
    numbers.set(id, all.add(id));
  };
  KINDS.forEach(add);
  // Enough to grow several times and to fill more than one piece of memory.
  for (let i = 0; i < 20_000; i++) add(`event-${i}`);
  assertEquals(all.size, numbers.size);
  let expected = 0;
  for (const [id, number] of numbers) {
    assertEquals(number, expected++);
    assertEquals(all.indexOf(id), number, id.slice(0, 40));
    assertEquals(all.indexOf(`${id}!`), -1);
  }
});

Deno.test("an identifier that is added without being asked for is found", () => {
  const all = new DigestedIds();
  for (let i = 0; i < 5_000; i++) {
    // Asked for another one, before and behind a growth of the table.
    if (i % 3 === 0) assertEquals(all.indexOf(`other-${i}`), -1);
    assertEquals(all.add(`event-${i}`), i);
    if (i % 5 === 0) assertEquals(all.indexOf(`event-${i >> 1}`), i >> 1);
  }
  for (let i = 0; i < 5_000; i++) assertEquals(all.indexOf(`event-${i}`), i);
  assertEquals(all.indexOf("other-0"), -1);
});

Deno.test("a digest is the begin of SHA-256 over the identifier as JSON", async () => {
  const all = new DigestedIds();
  for (const [i, id] of KINDS.entries()) {
    all.add(id);
    const json = new TextEncoder().encode(JSON.stringify(id));
    const whole = new Uint8Array(await crypto.subtle.digest("SHA-256", json));
    assertEquals(
      encodeHex(all.digestOf(i)),
      encodeHex(whole.subarray(0, 18)),
      id.slice(0, 40),
    );
  }
});

Deno.test("identifiers that were given back are no unknown ones", () => {
  const all = new DigestedIds();
  all.add("event-1");
  all.end();
  for (const id of ["event-1", "event-2"]) {
    assertThrows(() => all.indexOf(id), TypeError, "given back");
    assertThrows(() => all.add(id), TypeError, "given back");
  }
});
