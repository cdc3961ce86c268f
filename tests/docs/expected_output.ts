/** Comparing what a document shows with what a command wrote. @module */

import { assertEquals } from "@std/assert";

/**
 * Asserts that the output is as shown; `…` in a line stands for anything in
 * that line, a line of `…` alone for any lines. An indent that all lines have
 * does not count: `deno fmt` takes it away.
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
