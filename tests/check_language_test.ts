import { assertEquals } from "@std/assert";
import { findPhrases } from "../tools/check_language.ts";

Deno.test("reports phrases that must not return, with a replacement", () => {
  const faults = findPhrases(
    "Milliseconds; 512 unless told.\nfine\nThis is no address, made anew.\n",
  );
  assertEquals(faults, [
    { line: 1, found: "unless told", instead: '"(default: …)"' },
    { line: 3, found: "is no address", instead: '"is not a …"' },
    { line: 3, found: "anew", instead: '"again", or what is rebuilt' },
  ]);
});

Deno.test("accepts plain English", () => {
  for (
    const text of [
      "There is no file, and it is no longer needed.",
      "undefined when there is none",
      "The library reads it again (default: 512).",
      "It renews the pin and tells the caller.",
    ]
  ) assertEquals(findPhrases(text), [], text);
});
