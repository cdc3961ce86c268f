/** Rows as CSV and as a printable HTML page. @module */

import type { KeyUse } from "@sig/consumer";
import { oneOf, optional, type Values } from "@sig/api/program";
import { fillTemplate } from "./fill_template.ts";
import { type TableColumn, writeTable } from "./table.ts";
import { type Output, safe } from "./write.ts";
import style from "./report_page.css" with { type: "text" };
import template from "./report_page.txt" with { type: "text" };

/** A column of a report; a page links its cells to files in its folder. */
interface ReportColumn<T> extends TableColumn<T> {
  readonly fileOf?: (row: T) => string | undefined;
}

/** A column of CSV. */
export type CsvColumn<T> = readonly [name: string, cell: (row: T) => string];

/** A list of rows about a verified feed. */
interface Report<T> {
  /** First line of the text. */
  readonly heading: string;
  /** Title of the page, and a sentence about the rows. */
  readonly title: string;
  readonly about: string;
  readonly feed: {
    readonly issuer: string;
    readonly verifiedEvents: number;
    readonly sha256?: string | undefined;
    readonly keys: readonly KeyUse[];
  };
  readonly columns: readonly ReportColumn<T>[];
  readonly csv: readonly CsvColumn<T>[];
  readonly rows: readonly T[];
  /** Whether the page highlights a row. */
  readonly isMarked?: (row: T) => boolean;
  /** Text instead of a table without rows. */
  readonly empty: string;
}

/** Flags of the commands that print CSV. */
export const REPORT_FLAGS = {
  separator: optional(
    oneOf(",", ";"),
    "between the cells of --format csv (default: ,)",
  ),
};

/** The values of {@linkcode REPORT_FLAGS}. */
export type ReportValues = Partial<Values<typeof REPORT_FLAGS>>;

/** The call of a command that prints a report. */
interface ReportCall extends Output {
  readonly flags: ReportValues;
  readonly ownFormat: string | undefined;
}

/** Writes a report as a table, CSV or HTML page. */
export function writeReport<T>(
  call: ReportCall,
  report: Report<T>,
): void {
  const { io, ownFormat } = call;
  const { columns, csv, empty, heading, rows } = report;
  if (ownFormat === "html") return io.stdout(pageOf(report));
  if (ownFormat === "csv") {
    const names = csv.map(([name]) => name);
    const cells = rows.map((row) => csv.map(([, cell]) => cell(row)));
    return io.stdout(csvOf(names, cells, call.flags));
  }
  io.stdout(`${safe(heading)}\n`);
  if (rows.length === 0) io.stdout(`${empty}\n`);
  else writeTable(call, rows, columns);
}

/**
 * Returns rows as CSV (RFC 4180) that is safe to open in a spreadsheet. It
 * begins with a byte order mark, without which Excel reads other letters.
 */
export function csvOf(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  { separator = "," }: ReportValues = {},
): string {
  const lines = [columns, ...rows]
    .map((row) => `${row.map(csvCell).join(separator)}\r\n`);
  return `\uFEFF${lines.join("")}`;
}

/**
 * Quotes a cell. Prefixes formulas with `'`, which makes them text: also after
 * blanks, in full-width characters, and after each `;`, which separates cells
 * in the spreadsheets of many countries.
 */
function csvCell(value: string): string {
  const shown = safe(value)
    .replaceAll(/(^|;)(?=[\s"]*[=+\-@＝＋－＠])/g, "$1'");
  return `"${shown.replaceAll('"', '""')}"`;
}

/** Returns a page without scripts and external resources. */
function pageOf<T>(
  { about, columns, empty, feed, isMarked, rows, title }: Report<T>,
): string {
  const keys = feed.keys.map(({ kid, first_sequence, last_sequence }) =>
    `${kid}: events ${first_sequence} to ${last_sequence}`
  );
  const facts = [
    ["Issuer", feed.issuer],
    ["Verified", `events 1 to ${feed.verifiedEvents}`],
    ["SHA-256 of the feed", feed.sha256 ?? ""],
    ...keys.map((key) => ["Key", key]),
  ] as const;
  return fillTemplate(template, {
    title: text(title),
    about: text(about),
    empty: `${empty.slice(0, 1).toUpperCase()}${text(empty.slice(1))}.`,
    style,
    facts: facts.filter(([, value]) => value !== "")
      .map(([name, value]) => ({ name: text(name), value: text(value) })),
    hasRows: rows.length > 0,
    columns: columns.map(({ title }) => ({ title: text(title) })),
    rows: rows.map((row) => ({
      mark: isMarked?.(row) ? ' class="marked"' : "",
      cells: columns.map(({ cell, fileOf }) => {
        const shown = cell(row);
        const file = fileOf?.(row);
        // A DID may break anywhere.
        const isShort = file !== undefined || /^\S{1,20}$/.test(shown);
        return {
          cell: file === undefined ? text(shown) : linkTo(file, shown),
          mark: isShort ? ' class="short"' : "",
        };
      }),
    })),
  });
}

function linkTo(file: string, shown: string): string {
  const href = file.split("/").map(encodeURIComponent).join("/");
  return `<a href="${text(href)}">${text(shown)}</a>`;
}

/** Escapes text of a feed for HTML. */
function text(value: string): string {
  return safe(value).replaceAll(
    /[&<>"']/g,
    (sign) => `&#${sign.charCodeAt(0)};`,
  );
}
