/** Help texts, wrapped to the width of the terminal if there is one. @module */

import type { FlagSpec } from "./flag.ts";

/**
 * Returns a flag as it is typed, and its description with notes.
 *
 * @example
 * ```ts
 * import { flagRow, twoColumns } from "@sig/api/program";
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

/** The indentation of continued lines. */
const INDENT = "    ";

/**
 * Splits a description into parts: a paragraph is one line, consecutive
 * indented lines stay together unchanged, and an empty part is an empty line.
 */
export function partsOf(description: string): readonly string[] {
  const parts: string[] = [];
  for (const line of description.split("\n")) {
    const last = parts.at(-1);
    const continues = last && line && isSample(last) === isSample(line);
    if (!continues) parts.push(line);
    else parts[parts.length - 1] += (isSample(line) ? "\n" : " ") + line;
  }
  return parts;
}

/** Returns whether a part is shown without wrapping. */
export function isSample(part: string): boolean {
  return part.startsWith(" ");
}

/** Returns a text, wrapped if it has lines longer than the width. */
export function paragraphs(text: string, width = Infinity): string {
  if (text.split("\n").every((line) => line.length <= width)) return text;
  return partsOf(text).map((part) =>
    isSample(part) ? part : wrap(part, width).join("\n")
  ).join("\n");
}

/**
 * Returns terms and their descriptions in two columns. A term gets its own line
 * if it would leave the descriptions less than half of the width, or than their
 * longest word.
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

/** Returns a labelled line; its continuation is indented below the text. */
export function usage(label: string, line: string, width = Infinity): string {
  const room = width - label.length;
  return label + wrap(unitsOf(line, room), room)
    .join(`\n${" ".repeat(label.length)}`);
}

/** Returns a line to copy; continued lines are valid in a shell. */
export function example(line: string, width = Infinity): string {
  if (line.length + 2 <= width) return `  ${line}`;
  const end = " \\";
  const room = width - INDENT.length - end.length;
  return `  ${wrap(unitsOf(line, room), room).join(`${end}\n${INDENT}`)}`;
}

/**
 * Splits a line at blanks outside quotes; keeps a flag with its value if there
 * is room.
 */
function unitsOf(line: string, room: number): readonly string[] {
  const units = line.match(/(?:--\S+ (?!-))?(?:"[^"]*"|\S)+/g) ?? [];
  return units.flatMap((unit) =>
    unit.length <= room ? unit : unit.split(/(?<=^--\S+) /)
  );
}

/** Wraps words, or a text split at single blanks, to lines of a width. */
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

/** Characters of two columns: East Asian scripts and forms, and emoji. */
const WIDE =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\ufe0f/u;
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Returns the columns of a text in a terminal: one or two for each grapheme.
 * Controls have none; escape them first.
 */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}
