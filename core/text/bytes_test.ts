import { assert, assertEquals } from "@std/assert";
import { joinBytes, sameBytes } from "@sig/core/internal";
import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";
import { decodeBase64UrlInto, decodeBase64UrlStrict } from "./bytes.ts";

Deno.test("joinBytes always returns a copy, also of a single piece", () => {
  const piece = Uint8Array.of(1, 2);
  const joined = joinBytes([piece]);
  piece[0] = 9;
  assertEquals(joined, Uint8Array.of(1, 2));
  assertEquals(joinBytes([]), new Uint8Array());
  const [a, b] = [Uint8Array.of(1), Uint8Array.of(2, 3)];
  assertEquals(joinBytes([a, b, a], 4), Uint8Array.of(1, 2, 3, 1));
});

Deno.test("sameBytes compares lengths and bytes", () => {
  const bytes = Uint8Array.of(1, 2, 3);
  assert(sameBytes(bytes, bytes.slice()));
  assert(sameBytes(new Uint8Array(), new Uint8Array()));
  assert(!sameBytes(bytes, bytes.subarray(0, 2)));
  assert(!sameBytes(bytes.subarray(0, 2), bytes));
  assert(!sameBytes(bytes, Uint8Array.of(1, 2, 4)));
});

import fc from "fast-check";

/**
 * A slow implementation of the same rule: decode leniently, encode, compare.
 */
function decodeByReencoding(text: string): Uint8Array | undefined {
  try {
    const bytes = decodeBase64Url(text);
    return encodeBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

Deno.test("accepts exactly the texts that survive decoding and encoding", () => {
  const unit = fc.constantFrom(
    ..."ABQgwxyz0189-_+/= \n\u00c1\u0141\u2028",
  );
  const text = fc.string({ unit, maxLength: 12 });
  fc.assert(
    fc.property(text, (text) => {
      assertEquals(decodeBase64UrlStrict(text), decodeByReencoding(text));
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("decodes a part of some bytes like a separate text", () => {
  const ascii = new TextEncoder().encode('"AQI","AQJ","","-_-_"');
  const bytes = new Uint8Array(8).fill(7);
  const decode = (from: number, to: number) =>
    decodeBase64UrlInto(ascii, from, to, bytes);
  assertEquals(decode(1, 4), 2);
  assertEquals([...bytes], [1, 2, 7, 7, 7, 7, 7, 7]);
  assertEquals(decode(7, 10), -1);
  assertEquals(decode(13, 13), 0);
  assertEquals(decode(16, 20), 3);
  assertEquals(decode(0, 3), -1);
  assertEquals(decode(16, 21), -1);
});
