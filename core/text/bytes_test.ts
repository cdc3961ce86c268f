import { assert, assertEquals } from "@std/assert";
import { joinBytes, sameBytes } from "@sig/core";

Deno.test("joined bytes are a copy, also of a single piece", () => {
  const piece = Uint8Array.of(1, 2);
  const joined = joinBytes([piece]);
  piece[0] = 9;
  assertEquals(joined, Uint8Array.of(1, 2));
  assertEquals(joinBytes([]), new Uint8Array());
  const [a, b] = [Uint8Array.of(1), Uint8Array.of(2, 3)];
  assertEquals(joinBytes([a, b, a], 4), Uint8Array.of(1, 2, 3, 1));
});

Deno.test("bytes are the same only with the same length and the same bytes", () => {
  const bytes = Uint8Array.of(1, 2, 3);
  assert(sameBytes(bytes, bytes.slice()));
  assert(sameBytes(new Uint8Array(), new Uint8Array()));
  assert(!sameBytes(bytes, bytes.subarray(0, 2)));
  assert(!sameBytes(bytes.subarray(0, 2), bytes));
  assert(!sameBytes(bytes, Uint8Array.of(1, 2, 4)));
});
