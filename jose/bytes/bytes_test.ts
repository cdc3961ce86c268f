import { assertEquals } from "@std/assert";
import {
  decodeBase58 as decodeByStd,
  encodeBase58,
} from "@std/encoding/base58";
import { decodeBase58, decodeBase64, encodeBase64 } from "./bytes.ts";

Deno.test("decodes the output of another encoder, including leading zeroes", () => {
  for (let length = 0; length <= 80; length++) {
    for (let zeroes = 0; zeroes <= Math.min(length, 3); zeroes++) {
      const bytes = crypto.getRandomValues(new Uint8Array(length));
      bytes.fill(0, 0, zeroes);
      assertEquals(decodeBase58(encodeBase58(bytes)), bytes);
    }
  }
  // The example of the draft.
  assertEquals(
    decodeBase58("2NEpo7TZRRrLZSi2U"),
    new TextEncoder().encode("Hello World!"),
  );
});

Deno.test("decoded text has a single spelling, and the same bytes as with another decoder", () => {
  const alphabet = encodeBase58(new Uint8Array(1)) +
    "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  const random = crypto.getRandomValues(new Uint8Array(60_000));
  for (let at = 0; at < 1_000; at++) {
    const codes = random.subarray(at * 60, at * 60 + at % 60);
    const text = Array.from(codes, (code) => alphabet[code % 58]).join("");
    const bytes = decodeBase58(text);
    assertEquals(bytes, decodeByStd(text));
    assertEquals(encodeBase58(bytes!), text);
  }
});

Deno.test("rejects characters outside the alphabet", () => {
  for (const wrong of [..."0OIl+/ \n-_=.#", "é", "\u0100", "１", "\ud800"]) {
    for (
      const text of [wrong, `${wrong}z6Mk`, `z6${wrong}Mk`, `z6Mk${wrong}`]
    ) {
      assertEquals(decodeBase58(text), undefined, JSON.stringify(text));
    }
  }
});

Deno.test("base64 has one spelling of each byte string", () => {
  for (const text of ["", "AA==", "AAA=", "AAAA", "+/+/"]) {
    assertEquals(encodeBase64(decodeBase64(text)!), text);
  }
  for (
    const text of ["AA", "AA=", "AA===", "AAAA==", "AB==", "-_-_", "A", "="]
  ) {
    assertEquals(decodeBase64(text), undefined, text);
  }
});

Deno.test("the time to decode base64 is linear", () => {
  // A search for the padding from each character on would take hours here.
  assertEquals(decodeBase64(`${"=".repeat(4_000_000)}A`), undefined);
});
