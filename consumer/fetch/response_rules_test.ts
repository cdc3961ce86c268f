import { assertEquals } from "@std/assert";
import { checkMediaType, parseMediaType } from "./response_rules.ts";

Deno.test("parses a media type without parameters and case", () => {
  assertEquals(parseMediaType(null), null);
  assertEquals(parseMediaType(""), null);
  assertEquals(
    parseMediaType("Application/JSON; charset=utf-8"),
    "application/json",
  );
  assertEquals(parseMediaType("text/html, application/json"), "text/html");
  assertEquals(parseMediaType("x".repeat(5000))?.length, 100);
});

Deno.test("a matching media type, or none, gives no warning", () => {
  for (
    const [name, type] of [
      ["metadata", "application/json"],
      ["jwks", "application/jwk-set+json"],
      ["did_document", "application/did+ld+json"],
      ["did_document", "application/did"],
      ["feed", "application/x-ndjson"],
      ["feed", "application/jsonl"],
      ["feed", null],
    ] as const
  ) assertEquals(checkMediaType(name, type), undefined, String(type));
});

Deno.test("another media type gives a warning with the text escaped", () => {
  assertEquals(checkMediaType("feed", "application/octet-\u001bstream"), {
    code: "media_type_unexpected",
    detail: 'the feed is served as "application/octet-\\u001bstream" ' +
      "(expected application/x-ndjson)",
  });
  assertEquals(
    checkMediaType("metadata", "application/x-ndjson")?.code,
    "media_type_unexpected",
  );
});
