import { assertEquals } from "@std/assert";
import { validityAt } from "./validity.ts";

const AT = { seconds: 1_770_000_000, nanoseconds: 0 };

Deno.test("a period includes its start and excludes its end", () => {
  const edge = "2026-02-02T02:40:00Z";
  assertEquals(validityAt({ valid_from: edge }, AT), "active");
  assertEquals(validityAt({ valid_until: edge }, AT), "expired");
  assertEquals(
    validityAt({ valid_from: null, valid_until: null }, AT),
    "active",
  );
});

Deno.test("a bound that is not a timestamp is never in force", () => {
  assertEquals(validityAt({ valid_from: "soon" }, AT), "not_yet_valid");
  assertEquals(validityAt({ valid_until: "2026-13-01" }, AT), "expired");
});
