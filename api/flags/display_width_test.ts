import { assertEquals } from "@std/assert";
import { displayWidth } from "./display_width.ts";

Deno.test("a text is as wide as a terminal draws it", () => {
  const widths: readonly (readonly [string, number])[] = [
    ["", 0],
    ["did:web:a.example", 17],
    ["é", 1],
    ["e\u0301", 1],
    ["天地玄黃", 8],
    ["ｆｕｌｌ", 8],
    ["한글", 4],
    ["かな。", 6],
    ["👩🏽‍💻", 2],
    ["नमस्ते", 3],
    ["→", 1],
  ];
  for (const [text, width] of widths) {
    assertEquals([text, displayWidth(text)], [text, width]);
  }
});
