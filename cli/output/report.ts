/** Rows as CSV and as a printable HTML page. @module */

import type { KeyUse } from "@sig/consumer";
import { escapeInvisible } from "@sig/core";
import { oneOf, optional, type Values } from "@sig/api/program";
import { fillTemplate } from "./fill_template.ts";
import style from "./report_page.css" with { type: "text" };
import template from "./report_page.txt" with { type: "text" };

/** The verified feed, for the head of a page. */
interface ReportedFeed {
  readonly issuer: string;
  readonly verifiedEvents: number;
  readonly sha256: string | undefined;
  readonly keys: readonly KeyUse[];
}

/** Text, or a link to a file in the folder of the page. */
type Cell = string | { readonly text: string; readonly file: string };

/** A page with the verified feed and a table. */
interface ReportPage {
  readonly title: string;
  /** A sentence about the rows. */
  readonly about: string;
  readonly feed: ReportedFeed;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Indexes of the highlighted rows. */
  readonly marked?: ReadonlySet<number>;
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
  const shown = escapeInvisible(value)
    .replaceAll(/(^|;)(?=[\s"]*[=+\-@＝＋－＠])/g, "$1'");
  return `"${shown.replaceAll('"', '""')}"`;
}

/** Returns a page without scripts and external resources. */
export function pageOf(
  { about, columns, empty, feed, marked, rows, title }: ReportPage,
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
    empty: text(empty),
    style,
    facts: facts.filter(([, value]) => value !== "")
      .map(([name, value]) => ({ name: text(name), value: text(value) })),
    hasRows: rows.length > 0,
    columns: columns.map((column) => ({ title: text(column) })),
    rows: rows.map((row, at) => ({
      mark: marked?.has(at) ? ' class="marked"' : "",
      cells: row.map((cell) => ({
        cell: htmlOf(cell),
        mark: isShort(cell) ? ' class="short"' : "",
      })),
    })),
  });
}

/** Whether a cell is short, such as a time; a DID may break anywhere. */
function isShort(cell: Cell): boolean {
  return typeof cell !== "string" || /^\S{1,20}$/.test(cell);
}

function htmlOf(cell: Cell): string {
  if (typeof cell === "string") return text(cell);
  const href = cell.file.split("/").map(encodeURIComponent).join("/");
  return `<a href="${text(href)}">${text(cell.text)}</a>`;
}

/** Escapes text of a feed for HTML. */
function text(value: string): string {
  return escapeInvisible(value).replaceAll(
    /[&<>"']/g,
    (sign) => `&#${sign.charCodeAt(0)};`,
  );
}
