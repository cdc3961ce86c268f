import { assertEquals, assertThrows } from "@std/assert";
import { encodeHex } from "@std/encoding/hex";
import {
  assertFindsAll,
  assertFindsUnasked,
} from "../../tests/kit/numbered_ids.ts";
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

function* manyIds(): Generator<string> {
  yield* KINDS;
  // Enough to grow several times and to fill more than one piece of memory.
  for (let i = 0; i < 20_000; i++) yield `event-${i}`;
}

Deno.test("an identifier is found under its number, and no other is", () =>
  assertFindsAll(new DigestedIds(), manyIds()));

Deno.test("an identifier that is added without being asked for is found", () =>
  assertFindsUnasked(new DigestedIds()));

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
