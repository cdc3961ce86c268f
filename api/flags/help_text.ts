/** Help texts as wide as the terminal; undefined where there is none. @module */

import type { FlagSpec } from "./flag.ts";

/**
 * A flag as it is typed, and what it does with its notes behind.
 *
 * @example
 * ```ts
 * import { flagRow, twoColumns } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * const flag = { name: "addr", value: "HOST:PORT", help: "where to listen" };
 * assertEquals(twoColumns([flagRow(flag)]), "  --addr HOST:PORT  where to listen");
 * ```
 */
export function flagRow(flag: FlagSpec): readonly [string, string] {
  const value = flag.value === undefined ? "" : ` ${flag.value}`;
  const notes = [
    ...(flag.required ? ["required"] : []),
    ...(flag.repeat ? ["repeatable"] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join(", ")})` : "";
  return [`--${flag.name}${value}`, flag.help + note];
}

/** The indent of continued lines. */
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
  width = Infinity,
): string {
  const lengths = rows.map(([word]) => word.length);
  const longest = Math.max(
    ...rows.flatMap(([, meaning]) => meaning.split(" "))
      .map((word) => word.length),
  );
  const most = Math.min(width / 2, width - longest) - INDENT.length;
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

/** A labelled line; its continuation is indented below the text. */
export function usage(label: string, line: string, width = Infinity): string {
  const room = width - label.length;
  return label + wrap(unitsOf(line, room), room)
    .join(`\n${" ".repeat(label.length)}`);
}

/** A line to copy: a continued line is valid in a shell. */
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

/** Words, those between single blanks of a text, with a limit on a line's width. */
export function wrap(
  text: string | readonly string[],
  width: number,
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of typeof text === "string" ? text.split(" ") : text) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && displayWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** Drawn over two columns: East Asian scripts and forms, and emoji. */
const WIDE =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\ufe0f/u;
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Columns that a terminal shows a text in, one or two for each character that
 * a reader would count. Controls have none: escape them first.
 */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}
