import { assert, assertEquals, assertMatch } from "@std/assert";
import { PAGE_HEADERS } from "./page_headers.ts";

Deno.test("pages keep to themselves, and may use no device", () => {
  const { "permissions-policy": features = "", ...others } = Object.fromEntries(
    PAGE_HEADERS,
  );
  assertEquals(others, {
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "x-frame-options": "DENY",
    "x-permitted-cross-domain-policies": "none",
  });
  const names = features.split(", ");
  for (const name of names) assertMatch(name, /^[a-z-]+=\(\)$/);
  assert(names.includes("camera=()") && names.includes("geolocation=()"));
  assertEquals(new Set(names).size, names.length);
  // The page of the login copies what it shows.
  assert(!features.includes("clipboard"));
});
