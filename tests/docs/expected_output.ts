/** Comparison of the shown output of a command with the actual one. @module */

import { assertEquals } from "@std/assert";

/**
 * Asserts that the output is as shown. `…` matches any text within a line; a
 * line with only `…` matches any lines. Common indentation is ignored, since
 * `deno fmt` removes it.
 */
export function assertShown(actual: string, shown: string): void {
  const [found, expected] = [dedent(actual), dedent(shown)];
  const pattern = expected.split("\n").map((line) =>
    line.trim() === "…"
      ? "(?:.*\\n)*?"
      : line.split("…").map(RegExp.escape).join(".*") + "\\n"
  ).join("");
  const isSame = new RegExp(`^${pattern}$`).test(`${found}\n`);
  if (!isSame) assertEquals(found, expected);
}

function dedent(text: string): string {
  const lines = text.trimEnd().split("\n");
  const indents = lines.filter((line) => line.trim() !== "")
    .map((line) => line.length - line.trimStart().length);
  const common = Math.min(...indents);
  return lines.map((line) => line.slice(common)).join("\n");
}
