/** A spreadsheet's rows as it shows them. @module */

import { SigError } from "@sig/core";
import { parse } from "@std/csv/parse";

/** One row that is not empty. */
export interface CsvRow {
  /** As the spreadsheet counts: the header is row 1. */
  readonly row: number;
  /** Its cells, without the blanks around them. */
  readonly cells: readonly string[];
}

/** What a spreadsheet separates cells with. */
const SEPARATORS = [",", ";", "\t"] as const;

/**
 * Splits CSV (RFC 4180) into rows. The separator is the one of comma,
 * semicolon and tab that the first row has most of; CRLF and LF both end rows.
 * A byte order mark is no part of the first cell.
 *
 * @throws {SigError} `invalid_request` for quotes that are never closed and
 * the like, with `context.line`.
 */
export function readCsv(text: string): readonly CsvRow[] {
  const separator = separatorOf(text);
  const input = keepBlankRows(text.replace(/^\uFEFF/, ""), separator);
  const records = parseRecords(input, separator);
  return records
    .map((record, at) => ({
      row: at + 1,
      cells: record.map((cell) => cell.trim()),
    }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
}

function parseRecords(input: string, separator: string) {
  try {
    return parse(input, { separator });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The parser's own text would quote the input.
    const line = Number(/on line (\d+)/.exec(error.message)?.[1]);
    throw new SigError(
      "invalid_request",
      `Cannot read list: line ${line} has a quote that is not closed, or stands within a cell`,
      {
        context: {
          line,
          hint:
            'Put the whole cell into quotes, and write each quote in it as "".',
        },
      },
    );
  }
}

function separatorOf(text: string): string {
  const first = text.slice(0, text.search(/[\r\n]|$/)).replace(/"[^"]*"/g, "");
  const count = (separator: string) => first.split(separator).length;
  return SEPARATORS.reduce((a, b) => count(b) > count(a) ? b : a);
}

/**
 * Makes a row of empty cells of each blank line, since the parser passes over
 * blank lines and rows are counted. A line within quotes stays as it is.
 */
function keepBlankRows(text: string, separator: string): string {
  let isQuoted = false;
  return text.split("\n").map((line, at, all) => {
    const isBlank = line.trim() === "" && !isQuoted && at < all.length - 1;
    if (line.split('"').length % 2 === 0) isQuoted = !isQuoted;
    return isBlank ? separator : line;
  }).join("\n");
}
