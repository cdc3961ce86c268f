/** Tables for a terminal, wrapped between words. @module */

import { displayWidth, wrap } from "@sig/api/program";
import type { Io } from "../terminal/io.ts";
import { type Colour, colour, type Output, safe } from "./write.ts";

/** A column of {@linkcode writeTable}. */
export interface TableColumn<T> extends Shape {
  /** Returns the text of a row in this column. */
  cell(row: T): string;
  readonly colour?: (cell: string) => Colour | undefined;
}

/** How much cells are shortened. */
type Level = 1 | 2 | 3;

/** The form of a column. */
interface Shape {
  /** The heading; if all are empty, the table has no heading line. */
  readonly title: string;
  /**
   * Shortens a cell if the table is too wide for the terminal: 1 is tried
   * before 2, and 2 before 3. A column of empty cells is omitted.
   */
  readonly short?: (cell: string, level: Level) => string;
  /** Whether this column may be wrapped (default: any, if none says so). */
  readonly isWrapped?: boolean;
}

/** Returns a column of {@linkcode writeTable}. */
export function column<T>(
  title: string,
  cell: (row: T) => string,
  more: Partial<TableColumn<T>> = {},
): TableColumn<T> {
  return { title, cell, ...more };
}

/** Shortens a DID in the middle, `did:key:z6MkhaX…ta2doK`, or to its end. */
export function shortDid(did: string, level: Level = 1): string {
  const end = did.startsWith("did:key:") ? 8 : 12;
  if (level > 1 && did.length > 16) return `…${did.slice(-end)}`;
  return did.length <= 22 ? did : `${did.slice(0, 15)}…${did.slice(-6)}`;
}

/** For columns of DIDs. */
export const DID = { short: shortDid };

/** For columns of texts with times: midnight is a date. */
export const TIME = {
  short: (text: string, level: Level) =>
    level > 1 ? text.replaceAll("T00:00:00Z", "") : text,
};

/** For columns of identifiers that another command lists whole. */
export const ID = {
  short: (id: string, level: Level) =>
    level < 3 || id.length <= 12 ? id : `…${id.slice(-8)}`,
};

/** Returns the columns of stdout; undefined if it is not a terminal. */
export function widthOf(io: Io): number | undefined {
  return io.isTerminal("stdout") ? io.columns() : undefined;
}

/** Writes rows as a table, wrapped to the width of the terminal. */
export function writeTable<T>(
  { io }: Output,
  rows: readonly T[],
  columns: readonly TableColumn<T>[],
): void {
  const shown = columns.map(({ colour: of, ...column }): Column => ({
    ...column,
    paint(text, cell) {
      const name = of?.(cell);
      return name === undefined ? text : colour(io, "stdout", name, text);
    },
  }));
  const cells = rows.map((row) => columns.map(({ cell }) => safe(cell(row))));
  const lines = layOut(shown, cells, widthOf(io));
  // One write, since a feed may have very many rows.
  if (lines.length > 0) io.stdout(`${lines.join("\n")}\n`);
}

/** A column of {@linkcode layOut}. */
interface Column extends Shape {
  /** Colours a line of a cell, without changing its width. */
  readonly paint?: (shown: string, cell: string) => string;
}

/** Space between two columns. */
const GAP = "  ";
/** Indentation of continuation lines. */
const INDENT = "  ";

/**
 * Returns the lines of a table. If rows don't fit, cells are shortened and
 * wrapped between words; if that isn't enough, shortened further. Then each row
 * becomes a block, with one line or two for each cell, or without headings with
 * as many cells in a line as fit. A block has whole cells, and words are never
 * broken, so that identifiers can be copied: a word that is wider than the
 * terminal has a separate line.
 *
 * @param width Columns of the terminal (default: a file or a pipe, where each
 * row is one line).
 */
export function layOut(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = Infinity,
): readonly string[] {
  if (rows.length === 0) return [];
  const whole = rows.map((row) => columns.map((_, at) => row[at] ?? ""));
  for (const level of [0, 1, 2, 3] as const) {
    const shown = used(
      columns,
      level === 0
        ? whole
        : whole.map((row) =>
          row.map((cell, at) => columns[at]!.short?.(cell, level) ?? cell)
        ),
    );
    const widths = fit(...shown, width, level > 0);
    if (widths !== undefined) return lines(...shown, widths);
  }
  return blocks(...used(columns, whole), width);
}

/** Omits empty columns. */
function used(
  columns: readonly Column[],
  table: readonly (readonly string[])[],
) {
  const places = columns.map((_, at) => at)
    .filter((at) => table.some((row) => row[at] !== ""));
  return [
    places.map((at) => columns[at]!),
    table.map((row) => places.map((at) => row[at]!)),
  ] as const;
}

/**
 * Returns the width of each column; undefined if they don't fit.
 *
 * @param mayWrap Whether cells may be wrapped between words.
 */
function fit(
  columns: readonly Column[],
  table: readonly (readonly string[])[],
  width: number,
  mayWrap: boolean,
): readonly number[] | undefined {
  const widest = (at: number, parts: (cell: string) => readonly string[]) =>
    table.reduce(
      (most, row) => Math.max(most, ...parts(row[at]!).map(displayWidth)),
      displayWidth(columns[at]!.title),
    );
  const widths = columns.map((_, at) => widest(at, (cell) => [cell]));
  const isChosen = columns.some(({ isWrapped }) => isWrapped);
  const least = columns.map(({ isWrapped }, at) =>
    !mayWrap || isChosen && !isWrapped
      ? widths[at]!
      : widest(at, (cell) => cell.split(" "))
  );
  const room = width - GAP.length * (columns.length - 1);
  const sum = (numbers: readonly number[]) =>
    numbers.reduce((a, b) => a + b, 0);
  if (sum(least) > room) return undefined;
  while (sum(widths) > room) {
    // Shrink the widest column that can be narrower.
    const spare = widths.map((each, at) => each > least[at]! ? each : 0);
    widths[spare.indexOf(Math.max(...spare))]!--;
  }
  return widths;
}

function lines(
  columns: readonly Column[],
  table: readonly (readonly string[])[],
  widths: readonly number[],
): readonly string[] {
  const head = columns.map(({ title }, at) => pad(title, widths[at]!));
  const body = table.flatMap((row) => {
    const cells = row.map((cell, at) => wrap(cell, widths[at]!));
    const height = Math.max(...cells.map((cell) => cell.length));
    return Array.from(
      { length: height },
      (_, line) =>
        columns.map(({ paint }, at) => {
          const shown = cells[at]![line] ?? "";
          const text = paint && shown ? paint(shown, row[at]!) : shown;
          return text + " ".repeat(widths[at]! - displayWidth(shown));
        }).join(GAP).trimEnd(),
    );
  });
  const heading = head.join(GAP).trimEnd();
  return heading === "" ? body : [heading, ...body];
}

/** Returns a row as lines of as many cells as fit; later ones are indented. */
function flowed(
  columns: readonly Column[],
  row: readonly string[],
  width: number,
): readonly string[] {
  const lines: string[] = [];
  let room = 0;
  for (const [at, cell] of row.entries()) {
    if (cell === "") continue;
    const paint = columns[at]!.paint;
    const own = wrap(cell, width - INDENT.length);
    const shown = own.map((line) => paint ? paint(line, cell) : line);
    const needed = GAP.length + displayWidth(cell);
    if (own.length === 1 && needed <= room) {
      lines[lines.length - 1] += GAP + shown[0];
      room -= needed;
      continue;
    }
    const indent = lines.length === 0 ? "" : INDENT;
    lines.push(...shown.map((line) => indent + line));
    room = width - indent.length - displayWidth(own.at(-1)!);
  }
  return lines;
}

/** Returns each row as a block: a cell, then the others with headings. */
function blocks(
  columns: readonly Column[],
  table: readonly (readonly string[])[],
  width: number,
): readonly string[] {
  if (columns.every(({ title }) => title === "")) {
    return table.flatMap((row) => flowed(columns, row, width));
  }
  const label = Math.max(...columns.map(({ title }) => displayWidth(title)));
  return table.flatMap((row) =>
    columns.flatMap(({ title, paint }, at) => {
      const cell = row[at]!;
      if (cell === "") return [];
      const painted = (shown: string) => paint ? paint(shown, cell) : shown;
      if (at === 0) return wrap(cell, width).map(painted);
      const start = INDENT + pad(title, label) + GAP;
      const room = width - start.length;
      const fits = cell.split(" ").every((word) => displayWidth(word) <= room);
      if (!fits) {
        return [
          INDENT + title,
          ...wrap(cell, width - 2 * INDENT.length)
            .map((line) => INDENT + INDENT + painted(line)),
        ];
      }
      return wrap(cell, room).map((line, i) =>
        (i === 0 ? start : " ".repeat(start.length)) + painted(line)
      );
    })
  );
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}
