/** Rows as CSV, and as an HTML page that prints. @module */

import type { KeyUse } from "@sig/consumer";
import { escapeInvisible } from "@sig/core";
import { fillTemplate } from "./fill_template.ts";
import style from "./report_page.css" with { type: "text" };
import template from "./report_page.txt" with { type: "text" };

/** What was verified, for the head of a page. */
interface ReportedFeed {
  readonly issuer: string;
  readonly verifiedEvents: number;
  readonly sha256: string | undefined;
  readonly keys: readonly KeyUse[];
}

/** Text, or a link to a file beside the page. */
export type Cell = string | { readonly text: string; readonly file: string };

/** A page: what was verified, and a table. */
interface ReportPage {
  readonly title: string;
  /** A sentence about the rows. */
  readonly about: string;
  readonly feed: ReportedFeed;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Indexes of the rows that stand out. */
  readonly marked?: ReadonlySet<number>;
  /** In the place of a table without rows. */
  readonly empty: string;
}

/** CSV (RFC 4180), safe to open in a spreadsheet. */
export function csvOf(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return [columns, ...rows]
    .map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/**
 * In quotes always. What a spreadsheet would run as a formula is made text, also
 * behind blanks and in the full width of East Asian keyboards; and behind each
 * `;`, where spreadsheets of many countries begin a new cell.
 */
function csvCell(value: string): string {
  const shown = escapeInvisible(value)
    .replaceAll(/(^|;)(?=[\s"]*[=+\-@＝＋－＠])/g, "$1'");
  return `"${shown.replaceAll('"', '""')}"`;
}

/** A page without script or anything from elsewhere. */
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
    ...{ title: text(title), about: text(about), empty: text(empty), style },
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

/** Times, types and kids; a DID is broken anywhere. */
function isShort(cell: Cell): boolean {
  return typeof cell !== "string" || /^\S{1,20}$/.test(cell);
}

function htmlOf(cell: Cell): string {
  if (typeof cell === "string") return text(cell);
  const href = cell.file.split("/").map(encodeURIComponent).join("/");
  return `<a href="${text(href)}">${text(cell.text)}</a>`;
}

/** Text of a feed as HTML. */
function text(value: string): string {
  return escapeInvisible(value).replaceAll(
    /[&<>"']/g,
    (sign) => `&#${sign.charCodeAt(0)};`,
  );
}
