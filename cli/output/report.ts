/** Rows as CSV, and as an HTML page that prints. @module */

import type { KeyUse } from "@sig/consumer";
import { escapeInvisible } from "@sig/core";

/** What was verified, for the head of a page. */
interface ReportedFeed {
  readonly issuer: string;
  readonly verifiedEvents: number;
  readonly sha256: string | undefined;
  readonly keys: readonly KeyUse[];
}

/** A page: what was verified, and a table. */
interface ReportPage {
  readonly title: string;
  /** A sentence about the rows. */
  readonly about: string;
  readonly feed: ReportedFeed;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
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

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 2rem auto; padding: 0 1rem; max-width: 100rem }
h1 { font-size: 1.5rem; overflow-wrap: anywhere }
dt { font-weight: bold }
dd, td { overflow-wrap: anywhere }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { border: 1px solid; padding: .25rem .5rem; text-align: left; vertical-align: top }
tr { break-inside: avoid }
.marked { font-weight: bold; outline: 2px solid }
@media print { body { margin: 0; font-size: 9pt } }
`.trim();

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
  const cells = (tag: string, row: readonly string[]) =>
    row.map((cell) => `<${tag}>${text(cell)}</${tag}>`).join("");
  const body = rows.map((row, at) =>
    `<tr${marked?.has(at) ? ' class="marked"' : ""}>${cells("td", row)}</tr>`
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${text(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${text(title)}</h1>
<p>${text(about)}</p>
<dl>
${
    facts.filter(([, value]) => value !== "")
      .map(([name, value]) => `<dt>${text(name)}</dt><dd>${text(value)}</dd>`)
      .join("\n")
  }
</dl>
${
    rows.length === 0
      ? `<p>${text(empty)}</p>`
      : `<table>\n<thead><tr>${cells("th", columns)}</tr></thead>\n<tbody>\n${
        body.join("\n")
      }\n</tbody>\n</table>`
  }
</main>
</body>
</html>
`;
}

/** Text of a feed as HTML. */
function text(value: string): string {
  return escapeInvisible(value).replaceAll(
    /[&<>"']/g,
    (sign) => `&#${sign.charCodeAt(0)};`,
  );
}
