/** Parts of a help as wide as the terminal; undefined where there is none. @module */

import { wrap } from "./wrap.ts";

/** What goes on below its own first line. */
const INDENT = "    ";

/**
 * A description's parts: a paragraph is one line, lines that are indented stay
 * together as they are, and an empty part stands for an empty line.
 */
export function partsOf(description: string): readonly string[] {
  const parts: string[] = [];
  for (const line of description.split("\n")) {
    const last = parts.at(-1);
    const goesOn = last && line && isSample(last) === isSample(line);
    if (!goesOn) parts.push(line);
    else parts[parts.length - 1] += (isSample(line) ? "\n" : " ") + line;
  }
  return parts;
}

/** Whether a part is to be shown as it is written. */
export function isSample(part: string): boolean {
  return part.startsWith(" ");
}

/** A text whose lines are as long as they were written, or as they can be. */
export function paragraphs(text: string, width = Infinity): string {
  if (text.split("\n").every((line) => line.length <= width)) return text;
  return partsOf(text).map((part) =>
    isSample(part) ? part : wrap(part, width).join("\n")
  ).join("\n");
}

/**
 * Words and their meanings in two columns. A word that would leave the meanings
 * less than half of the width, or than their longest word, has its own line.
 */
export function twoColumns(
  rows: readonly (readonly [string, string])[],
  width?: number,
): string {
  const lengths = rows.map(([word]) => word.length);
  if (width === undefined) {
    const column = Math.max(...lengths);
    return rows.map(([word, meaning]) => `  ${word.padEnd(column)}  ${meaning}`)
      .join("\n");
  }
  const longest = Math.max(
    ...rows.flatMap(([, meaning]) => meaning.split(" "))
      .map((word) => word.length),
  );
  const most = width - Math.max(Math.ceil(width / 2), longest) - INDENT.length;
  const column = Math.max(
    INDENT.length,
    ...lengths.filter((length) => length <= most),
  );
  const start = " ".repeat(column + INDENT.length);
  return rows.flatMap(([word, meaning]) => {
    const lines = wrap(meaning, width - start.length)
      .map((line) => start + line);
    return word.length > column ? [`  ${word}`, ...lines] : [
      `  ${word}`.padEnd(start.length) + lines[0]!.trimStart(),
      ...lines.slice(1),
    ];
  }).join("\n");
}

/** A line that begins with a label and goes on behind it. */
export function usage(label: string, line: string, width = Infinity): string {
  const room = width - label.length;
  return label + wrap(unitsOf(line, room), room)
    .join(`\n${" ".repeat(label.length)}`);
}

/** A line to copy: a shell takes it also where it goes on below. */
export function example(line: string, width = Infinity): string {
  if (line.length + 2 <= width) return `  ${line}`;
  const end = " \\";
  const room = width - INDENT.length - end.length;
  return `  ${wrap(unitsOf(line, room), room).join(`${end}\n${INDENT}`)}`;
}

/** Words, blanks in quotes too; a flag has its value with it, if there is room. */
function unitsOf(line: string, room: number): readonly string[] {
  const units = line.match(/(?:--\S+ (?!-))?(?:"[^"]*"|\S)+/g) ?? [];
  return units.flatMap((unit) =>
    unit.length <= room ? unit : unit.split(/(?<=^--\S+) /)
  );
}
