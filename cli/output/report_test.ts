import { assert, assertEquals } from "@std/assert";
import { csvOf } from "./report.ts";

Deno.test("no cell of a CSV begins with a formula, also if a spreadsheet splits at semicolons", () => {
  for (
    const [cell, written] of [
      ["plain; text", `"plain; text"`],
      ["=1+1", `"'=1+1"`],
      ["  +1", `"'  +1"`],
      ["＝1", `"'＝1"`],
      ["a;=1;b; @x;-y", `"a;'=1;b;' @x;'-y"`],
      ['a;"=1', `"a;'""=1"`],
      ["a-b=c", `"a-b=c"`],
    ] as const
  ) {
    assertEquals(
      csvOf(["name"], [[cell]]),
      `\uFEFF"name"\r\n${written}\r\n`,
    );
  }
  const text = csvOf(["=x"], [["a;\t=1", 'b";=2']], { separator: ";" });
  assertEquals(text.slice(1).split(/\r\n/)[0], `"'=x"`);
  for (const cell of text.slice(1).split(/[;,\r\n]+/)) {
    assert(!/^["\s]*[=+\-@]/.test(cell), cell);
  }
});
