import { assertEquals } from "@std/assert";
import {
  isRefusedMediaType,
  judgeMediaType,
  parseMediaType,
} from "./media_type.ts";

Deno.test("a media type is read without parameters and case", () => {
  assertEquals(parseMediaType(null), null);
  assertEquals(parseMediaType(""), null);
  assertEquals(
    parseMediaType("Application/JSON; charset=utf-8"),
    "application/json",
  );
  assertEquals(parseMediaType("text/html, application/json"), "text/html");
  assertEquals(parseMediaType("x".repeat(5000))?.length, 100);
});

Deno.test("pages and multipart bodies are refused", () => {
  assertEquals(isRefusedMediaType("text/html"), true);
  assertEquals(isRefusedMediaType("multipart/byteranges"), true);
  assertEquals(isRefusedMediaType("text/plain"), false);
  assertEquals(isRefusedMediaType(null), false);
});

Deno.test("a type that fits, or none, gives no warning", () => {
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
  ) assertEquals(judgeMediaType(name, type), undefined, String(type));
});

Deno.test("another type is a warning with the text escaped", () => {
  assertEquals(judgeMediaType("feed", "application/octet-\u001bstream"), {
    code: "media_type_unexpected",
    detail: 'the feed is served as "application/octet-\\u001bstream" ' +
      "(expected application/x-ndjson)",
  });
  assertEquals(
    judgeMediaType("metadata", "application/x-ndjson")?.code,
    "media_type_unexpected",
  );
});
