/**
 * Reads the operator's file of names, for the command line and the OpenID
 * Provider. It is for the packages of this project and is not covered by
 * semantic versioning.
 *
 * @example
 * ```ts
 * import { readNames } from "@sig/web/names";
 * import { assertEquals } from "@std/assert";
 *
 * const file = new
 * TextEncoder().encode("subject,name\ndid:web:ada.example,Ada\n");
 * assertEquals(readNames(file, "names.csv").get("did:web:ada.example")?.name,
 * "Ada");
 * ```
 *
 * @module
 */

import { usageError } from "@sig/api/program";
import { type Issue, SigError } from "@sig/core";
import { quote, trimOws } from "@sig/core/internal";
import { parse } from "@std/csv/parse";

/** The names of a person. */
export interface PersonName {
  /** The display name. */
  readonly name: string;
  /** The user name, for programs; absent if the file has none. */
  readonly username?: string;
  /** The row in the file; the header is row 1. */
  readonly row: number;
}

/**
 * Maximum size of a file of names in bytes; 100,000 people take about 10 MB.
 */
export const MAX_NAMES_BYTES = 64 * 1024 * 1024;

/** Maximum number of faults that an error lists. */
const MAX_LISTED = 100;

/**
 * Reads CSV with the columns `subject`, `name` and optionally `username`; other
 * columns are ignored. A row without a name and a username is ignored.
 *
 * @param path The file's path, for error messages.
 * @throws {SigError} `invalid_request` for text that is not UTF-8, a missing
 * column, a name without a subject, or two names for a subject; it lists every
 * invalid row.
 */
export function readNames(
  bytes: Uint8Array,
  path: string,
): ReadonlyMap<string, PersonName> {
  const [header, ...rows] = readCsv(decode(bytes, path));
  const columnOf = (name: string) => header?.cells.indexOf(name) ?? -1;
  const subjectAt = columnOf("subject");
  const nameAt = columnOf("name");
  const usernameAt = columnOf("username");
  if (subjectAt < 0 || nameAt < 0) {
    throw usageError(
      `names in ${quote(path)} must have the columns subject and name`,
      { flag: "--names", hint: "Its first row: subject,name." },
    );
  }
  const names = new Map<string, PersonName>();
  const faults = new NameFaults(path);
  for (const { row, cells } of rows) {
    const [subject, name] = [cells[subjectAt] ?? "", cells[nameAt] ?? ""];
    const username = usernameAt < 0 ? "" : cells[usernameAt] ?? "";
    if (name === "" && username === "") continue;
    const known = names.get(subject);
    if (subject === "") faults.add(row, "have a name without a subject");
    else if (name === "") faults.add(row, "have a username without a name");
    else if (known === undefined) {
      names.set(subject, {
        name,
        row,
        ...(username === "" ? {} : { username }),
      });
    } else if (known.name !== name || (known.username ?? "") !== username) {
      faults.add(row, "call one subject two names");
    }
  }
  faults.throwIfAny();
  return names;
}

/** Collects the faults of a file of names, without showing its content. */
export class NameFaults {
  readonly #path: string;
  readonly #faults: (Issue & { row: number })[] = [];

  /** Creates an empty list of the faults of a file. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Adds a fault of a row; `what` is a verb phrase with "names" as the subject.
   */
  add(row: number, what: string): void {
    this.#faults.push({
      pointer: `/${row}`,
      row,
      code: "invalid_field",
      detail: `${what} (row ${row})`,
    });
  }

  /**
   * Throws the faults as one error.
   *
   * @throws {SigError} `invalid_request` if there is a fault.
   */
  throwIfAny(): void {
    const [first] = this.#faults;
    if (first === undefined) return;
    const more = this.#faults.length - 1;
    throw new SigError(
      "invalid_request",
      `Cannot run: names in ${quote(this.#path)} ${first.detail}${
        more === 0 ? "" : ` (and ${more} more faults)`
      }`,
      {
        context: {
          flag: "--names",
          row: first.row,
          ...(more === 0 ? {} : { errors: this.#faults.slice(0, MAX_LISTED) }),
          hint: "Leave one row for each subject, subject and name in each.",
        },
      },
    );
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SigError(
      "invalid_request",
      `Cannot read names in ${quote(path)}: the file is not UTF-8`,
      { context: { flag: "--names", hint: 'Save it as "CSV UTF-8".' } },
    );
  }
}

/** A row that is not empty. */
export interface CsvRow {
  /** The row number as in a spreadsheet; the header is row 1. */
  readonly row: number;
  /** The cells, trimmed of spaces and tabs. */
  readonly cells: readonly string[];
}

/** The separators that spreadsheets use. */
const SEPARATORS = [",", ";", "\t"] as const;

/**
 * Splits CSV (RFC 4180) into rows. The separator is comma, semicolon or tab,
 * whichever is most frequent in the first row; rows end with CRLF or LF. A byte
 * order mark is removed.
 *
 * @throws {SigError} `invalid_request` for invalid quotes, with `context.line`.
 */
export function readCsv(text: string): readonly CsvRow[] {
  const separator = separatorOf(text);
  const input = keepBlankRows(text.replace(/^\uFEFF/, ""), separator);
  const records = parseRecords(input, separator);
  return records
    .map((record, at) => ({
      row: at + 1,
      // Only SP and HTAB are trimmed; other white space is part of a DID or
      // role.
      cells: record.map((cell) => trimOws(cell)),
    }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
}

function parseRecords(input: string, separator: string) {
  try {
    return parse(input, { separator });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The parser's own message would quote the input.
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
