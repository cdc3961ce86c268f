/** Reads CSV as spreadsheets write it. @module */

import {
  type ErrorCode,
  type ErrorContext,
  type Issue,
  SigError,
} from "@sig/core";
import { trimOws } from "@sig/core/internal";
import { parse } from "@std/csv/parse";

/**
 * Decodes a text file.
 *
 * @param what Names the file in the message, such as `list`.
 * @throws {SigError} `invalid_request` for bytes that are not UTF-8.
 */
export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SigError("invalid_request", {
      action: `read ${what}`,
      reason: "it is not UTF-8",
      context: { hint: 'Save it as "CSV UTF-8".' },
    });
  }
}

/** A row that is not empty. */
export interface CsvRow {
  /** The row number as in a spreadsheet; the header is row 1. */
  readonly row: number;
  /** The cells, trimmed of spaces and tabs. */
  readonly cells: readonly string[];
}

/** Returns a cell, in quotes if it needs them. */
export function quoteCell(value: string): string {
  return /^[\p{L}\p{N} .:@_#%+/-]*$/u.test(value)
    ? value
    : `"${value.replaceAll('"', '""')}"`;
}

/** The separators that spreadsheets use. */
const SEPARATORS = [",", ";", "\t"] as const;

/**
 * Splits CSV (RFC 4180) into rows. The separator is comma, semicolon or tab,
 * whichever is most frequent in the first row; rows end with CRLF or LF. A byte
 * order mark is removed.
 *
 * @param what Names the file in the message, such as `list`.
 * @throws {SigError} `invalid_request` for invalid quotes, with `context.line`.
 */
export function readCsv(text: string, what: string): readonly CsvRow[] {
  const separator = separatorOf(text);
  const input = keepBlankRows(text.replace(/^\uFEFF/, ""), separator);
  const records = parseRecords(input, separator, what);
  return records
    .map((record, at) => ({
      row: at + 1,
      // Only SP and HTAB are trimmed; other white space is part of a DID or
      // role.
      cells: record.map((cell) => trimOws(cell)),
    }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
}

function parseRecords(input: string, separator: string, what: string) {
  try {
    return parse(input, { separator });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The parser's own message would quote the input.
    const line = Number(/on line (\d+)/.exec(error.message)?.[1]);
    throw new SigError("invalid_request", {
      action: `read ${what}`,
      reason:
        `line ${line} has a quote that is not closed, or is within a cell`,
      context: {
        line,
        hint:
          'Put the whole cell into quotes, and write each quote in it as "".',
      },
    });
  }
}

/** Returns the separator that the header of a CSV text has most often. */
export function separatorOf(text: string): string {
  const first = text.slice(0, text.search(/[\r\n]|$/)).replace(/"[^"]*"/g, "");
  const count = (separator: string) => first.split(separator).length;
  return SEPARATORS.reduce((a, b) => count(b) > count(a) ? b : a);
}

/**
 * Replaces each blank line by a row of empty cells, since the parser skips
 * blank lines and the row numbers must match. Lines within quotes are
 * unchanged.
 */
function keepBlankRows(text: string, separator: string): string {
  let isQuoted = false;
  return text.split("\n").map((line, at, all) => {
    const isBlank = line.trim() === "" && !isQuoted && at < all.length - 1;
    if (line.split('"').length % 2 === 0) isQuoted = !isQuoted;
    return isBlank ? separator : line;
  }).join("\n");
}

/** Maximum number of faults that an error lists. */
export const MAX_FAULTS = 200;

/** Collects the faults of the rows of a table, to report them as one error. */
export class RowFaults {
  readonly #code: ErrorCode;
  readonly #action: string;
  readonly #context: ErrorContext;
  readonly #faults: (Issue & { row: number; column?: string })[] = [];

  /**
   * Creates an empty list of faults.
   *
   * @param code The code of the error.
   * @param action What failed, such as `read list`.
   * @param context Further details of the error.
   */
  constructor(code: ErrorCode, action: string, context: ErrorContext) {
    this.#code = code;
    this.#action = action;
    this.#context = context;
  }

  /** The number of faults. */
  get count(): number {
    return this.#faults.length;
  }

  /** The faults that an error lists. */
  get listed(): readonly Issue[] {
    return this.#faults.slice(0, MAX_FAULTS);
  }

  /** Adds a fault of a row, or of a cell; `what` is a clause about it. */
  add(row: number, what: string, column?: string): void {
    const [place, cell] = column === undefined
      ? [`${row}`, ""]
      : [`${row}/${column}`, `, column ${column}`];
    this.#faults.push({
      pointer: `/${place}`,
      row,
      ...(column !== undefined && { column }),
      code: "invalid_field",
      detail: `row ${row}${cell}: ${what}`,
    });
  }

  /** Returns the end of a message that names one of the faults. */
  static more(count: number): string {
    return count === 0
      ? ""
      : ` (and ${count} more fault${count === 1 ? "" : "s"})`;
  }

  /** Puts the faults into the order of the rows. */
  sort(): this {
    this.#faults.sort((a, b) => a.row - b.row);
    return this;
  }

  /**
   * Throws the faults as one error.
   *
   * @throws {SigError} if there is a fault.
   */
  throwIfAny(): void {
    const [first] = this.#faults;
    if (first === undefined) return;
    const { column, detail, row } = first;
    const more = this.#faults.length - 1;
    throw new SigError(this.#code, {
      action: this.#action,
      reason: `${detail}${RowFaults.more(more)}`,
      context: {
        row,
        ...(column === undefined ? {} : { column }),
        ...(more === 0 ? {} : { errors: this.listed }),
        ...this.#context,
      },
    });
  }
}
