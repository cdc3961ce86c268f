import { assertEquals } from "@std/assert";
import { decodeBase58, decodeBase64, encodeBase64 } from "./bytes.ts";

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
