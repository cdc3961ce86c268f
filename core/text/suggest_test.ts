import { assertEquals } from "@std/assert";
import { suggest } from "./suggest.ts";

const KNOWN = ["verify", "revoke", "check", "upsert", "--sig", "--subject"];

Deno.test("a mistyped word suggests the nearest known one", () => {
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

Deno.test("a word that is near to none suggests nothing", () => {
  for (const word of ["", "x", "xyzzy", "🙂", "a".repeat(1000)]) {
    assertEquals(suggest(word, KNOWN), undefined);
  }
});

Deno.test("a word as long as a request may hold costs nothing", () => {
  assertEquals(suggest("a".repeat(50_000_000), KNOWN), undefined);
});
