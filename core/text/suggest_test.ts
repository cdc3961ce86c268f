import { assertEquals } from "@std/assert";
import { suggest } from "./suggest.ts";

const KNOWN = ["verify", "revoke", "check", "upsert", "--sig", "--subject"];

Deno.test("suggests the known word nearest to a misspelled one", () => {
  const near: readonly (readonly [string, string])[] = [
    ["verfy", "verify"],
    ["verify", "verify"],
    ["chekc", "check"],
    ["veirfy", "verify"],
    ["--subjct", "--subject"],
    ["upsrt", "upsert"],
  ];
  for (const [word, expected] of near) {
    assertEquals(suggest(word, KNOWN), expected);
  }
});

Deno.test("suggests nothing if no known word is near", () => {
  for (const word of ["", "x", "xyzzy", "🙂", "a".repeat(1000)]) {
    assertEquals(suggest(word, KNOWN), undefined);
  }
});

Deno.test("a very long word takes no time", () => {
  assertEquals(suggest("a".repeat(50_000_000), KNOWN), undefined);
});
