import { assertEquals } from "@std/assert";
import { quote } from "./quote.ts";

Deno.test("quoted input has no control or direction characters, and is short", () => {
  assertEquals(quote('a"b\n\u001b\u009b'), '"a\\"b\\n\\u001b\\u009b"');
  assertEquals(
    quote("\u202eab\u2066\u200b\ufeff\u2028\u061c"),
    '"\\u202eab\\u2066\\u200b\\ufeff\\u2028\\u061c"',
  );
  assertEquals(quote("\ud800"), '"\\ud800"');
  assertEquals(quote("é😀"), '"é😀"');
  assertEquals(quote("x".repeat(80)), `"${"x".repeat(80)}"`);
  assertEquals(quote("x".repeat(81)), `"${"x".repeat(80)}…"`);
});
