/**
 * Reads lists of people (CSV, JSON or YAML), the desired state of a feed.
 *
 * @module
 */

import {
  DEFAULT_LIMITS,
  isSigError,
  JsonError,
  type OpenObject,
  parseJson,
  RELATIONSHIP_TYPES,
  type RelationshipType,
  SigError,
} from "@sig/core";
import {
  isIdentifier,
  isObject,
  isString,
  quote,
  suggest,
} from "@sig/core/internal";
import type { DesiredRelationship } from "@sig/issuer";
import { parseYaml, usageError } from "@sig/api/program";
import {
  type CsvRow,
  decodeText,
  readCsv,
  readSubject as parseSubject,
  RowFaults,
} from "@sig/issuer/people";
import { type End, readDay } from "../command_line/values.ts";

/** Returns the format for a file's ending, or undefined if it is unknown. */
export function formatOf(path: string): string | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "tsv" || ending === "txt") return "csv";
  if (ending === "yml") return "yaml";
  return ["csv", "json", "yaml"].find((format) => format === ending);
}

/** A row with its raw values; cells of CSV are text. */
interface Row {
  readonly row: number;
  readonly values: ReadonlyMap<Column, unknown>;
}

/** How to read a list. */
export interface ListOptions {
  /**
   * The column of each header that has another name; empty to ignore it
   * (default: none).
   */
  readonly columns?: ReadonlyMap<string, string> | undefined;
  /** The order of dates such as 02.03.2027 (default: they are refused). */
  readonly dates?: "dmy" | "mdy" | undefined;
}

/**
 * Reads a list: the desired relationships. An empty cell, null or an empty list
 * clears a value; a value without a column is kept as it is published.
 *
 * @throws {SigError} `invalid_field` with every fault, each with row and
 * column; `invalid_request` with every unknown column, or if the text is not a
 * list; `invalid_json`.
 */
export async function readPeople(
  bytes: Uint8Array,
  format: string,
  options: ListOptions = {},
): Promise<readonly DesiredRelationship[]> {
  const text = decodeText(bytes, "list");
  const faults = new RowFaults("invalid_field", "read list", {
    hint: "Nothing was written. Fix the list and rerun.",
  });
  const headers = new Headers(options.columns ?? new Map(), format);
  const rows = format === "csv"
    ? rowsOfCsv(readCsv(text, "list"), faults, headers)
    : rowsOfList(
      format === "json"
        ? parseList(text)
        : await parseYaml(text, (why) => notAList(`it ${why}`)),
      headers,
    );
  const names = new Map<string, string>();
  const desired = rows.map((row) => {
    const read = readRow(row, faults, options, format === "csv");
    const { person, subject, type } = read;
    const name = read.name?.trim() || undefined;
    const key = person ?? subject;
    if (key === undefined || type === undefined) return undefined;
    const known = names.get(key);
    if (name !== undefined) names.set(key, name);
    if (known !== undefined && name !== undefined && known !== name) {
      const of = person === undefined ? "subject" : "person";
      faults.add(row.row, `another row has another name for the ${of}`, "name");
    }
    return { ...read, type, name };
  });
  headers.throwIfUnknown(faults);
  faults.throwIfAny();
  // A row is undefined only if it has a fault.
  return desired.filter((each) => each !== undefined);
}

/** Assigns headers to columns, and collects those that are unknown. */
class Headers {
  readonly #columns: ReadonlyMap<string, string>;
  readonly #isCsv: boolean;
  readonly #unknown = new Map<string, number>();
  readonly #used = new Set<string>();
  readonly #missing: string[] = [];

  constructor(columns: ReadonlyMap<string, string>, format: string) {
    this.#isCsv = format === "csv";
    this.#columns = new Map(
      Array.from(columns, ([header, column]) => [this.#folded(header), column]),
    );
  }

  /** Spreadsheets use headers such as `Valid from`; JSON is exact. */
  #folded(header: string): string {
    return this.#isCsv ? header.trim().toLowerCase() : header;
  }

  /** Returns the column of a header; undefined to ignore it. */
  columnOf(header: string, row: number): Column | undefined {
    const folded = this.#folded(header);
    const mapped = this.#columns.get(folded);
    if (mapped !== undefined) this.#used.add(folded);
    if (mapped === "") return undefined;
    const name = mapped ??
      (this.#isCsv ? folded.replaceAll(/[\s_-]+/g, "_") : header);
    if (isColumn(name)) return name;
    if (!this.#unknown.has(header)) this.#unknown.set(header, row);
    return undefined;
  }

  /** Notes a column that every list needs. */
  miss(what: string): void {
    this.#missing.push(what);
  }

  /**
   * Throws every unknown column together with the faults of the rows. The hint
   * is the flag that maps them.
   *
   * @throws {SigError} `invalid_request`
   */
  throwIfUnknown(faults: RowFaults): void {
    const absent = [...this.#columns.keys()].filter((header) =>
      !this.#used.has(header)
    );
    if (absent.length > 0) {
      throw usageError(
        `the list has no column ${absent.map(quote).join(", ")}`,
        {
          flag: "--columns",
          hint:
            "The header of the list comes first, as in Personalnummer=person.",
        },
      );
    }
    const [first] = this.#unknown.values();
    if (first === undefined) {
      if (this.#missing.length === 0) return;
      throw notAList(
        `it has no column ${this.#missing.join(", and none ")}`,
        `Its columns may be ${COLUMNS.join(", ")}.`,
      );
    }
    const names = [...this.#unknown.keys()];
    const near = names.map((name) => [name, nearestColumn(name)] as const);
    const some = near.flatMap(([, column]) => column ?? []);
    const flag = near.map(([name, column = ""]) => `${name}=${column}`);
    const also = RowFaults.more(faults.count);
    const missing = this.#missing.map((name) => `, and no column ${name}`)
      .join("");
    throw new SigError("invalid_request", {
      action: "read list",
      reason: `row ${first}: unknown column${names.length === 1 ? "" : "s"} ${
        names.map(quote).join(", ")
      }${missing}${also}`,
      context: {
        row: first,
        columns: names,
        ...(faults.count > 0 && { errors: faults.listed }),
        hint: `${
          some.length === 0 ? "" : `Did you mean ${some.join(", ")}? `
        }Map them with --columns "${
          flag.join(",")
        }"; an empty name ignores a column. Columns are ${COLUMNS.join(", ")}.`,
      },
    });
  }
}

function isColumn(name: string): name is Column {
  return (COLUMNS as readonly string[]).includes(name);
}

function nearestColumn(name: string): string | undefined {
  return suggest(name.toLowerCase().replaceAll(/[ -]/g, "_"), COLUMNS);
}

function rowsOfCsv(
  [header, ...rows]: readonly CsvRow[],
  faults: RowFaults,
  headers: Headers,
): readonly Row[] {
  if (header === undefined) {
    throw notAList("it is empty", "Its first row names the columns.");
  }
  const columns = header.cells.map((cell, at) =>
    // A spreadsheet may leave empty cells at the end of every row.
    cell === "" && rows.every(({ cells }) => !cells[at])
      ? undefined
      : headers.columnOf(cell, header.row)
  );
  const needed = ["subject", "person"] as const;
  if (!needed.some((name) => columns.includes(name))) {
    headers.miss("subject or person");
  }
  if (!columns.includes("type")) headers.miss("type");
  const twice = columns.find((name, at) =>
    name !== undefined && columns.indexOf(name) !== at
  );
  if (twice !== undefined) throw notAList(`it has two columns ${twice}`);
  return rows.flatMap(({ row, cells }) => {
    if (cells.length !== columns.length) {
      faults.add(
        row,
        `it has ${cells.length} cells, the header has ${columns.length}; put a cell that contains the separator into quotes`,
      );
      return [];
    }
    const values = new Map(
      columns.flatMap((name, at) =>
        name === undefined ? [] : [[name, cells[at]] as const]
      ),
    );
    return { row, values };
  });
}

function rowsOfList(list: unknown, headers: Headers): readonly Row[] {
  if (!Array.isArray(list)) {
    throw notAList("it must be a list of objects");
  }
  return list.map((item, at) => {
    const row = at + 1;
    if (!isObject(item)) throw notAList(`item ${row} must be an object`);
    const values = Object.entries(item).flatMap(([name, value]) => {
      const column = headers.columnOf(name, row);
      return column === undefined ? [] : [[column, value] as const];
    });
    return { row, values: new Map(values) };
  });
}

function parseList(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new SigError("invalid_json", {
      action: "read list",
      reason: `${
        error.pointer === "" ? "" : `${error.pointer}: `
      }${error.message}`,
      context: { pointer: error.pointer },
    });
  }
}

function notAList(why: string, hint?: string): SigError {
  return new SigError("invalid_request", {
    action: "read list",
    reason: why,
    context: hint === undefined ? {} : { hint },
  });
}

/** A row with its values parsed. */
type ReadRow =
  & {
    -readonly [C in Column]?: ReturnType<typeof READERS[C]>;
  }
  & { readonly row: number };

/** Parses the values of one row and collects every fault. */
function readRow(
  { row, values }: Row,
  faults: RowFaults,
  options: ListOptions,
  isTable: boolean,
): ReadRow {
  const read: { [column: string]: unknown } = { row };
  for (const column of COLUMNS) {
    const value = values.get(column);
    // Without a column the value is absent; an empty cell is null.
    const given = value === "" || value === undefined ? null : value;
    const isRequired = column === "type" ||
      column === "subject" && !values.get("person");
    // A table without the column has one fault, not one in each row.
    const isMissing = isTable && !values.has(column) &&
      (column === "type" || !values.has("person"));
    if (isMissing || !values.has(column) && !isRequired) continue;
    if (column === "subject" && given === null && !isRequired) continue;
    try {
      read[column] = READERS[column](given, options);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.add(row, error.message, column);
    }
  }
  return read as ReadRow;
}

/** A reason why a value is invalid. */
class Fault extends Error {}

function readSubject(value: unknown): string {
  if (value === null) throw new Fault("it is required");
  try {
    const subject = isString(value) ? parseSubject(value) : undefined;
    if (subject !== undefined) return subject;
  } catch (error) {
    if (!isSigError(error)) throw error;
    throw new Fault(`${error.reason}; ${error.context.hint}`);
  }
  throw new Fault(
    "it must be a DID, such as did:web:alice.example or did:key:z6Mk…, or an OpenSSH public key",
  );
}

function readType(value: unknown): RelationshipType {
  if (value === null) throw new Fault("it is required");
  const found = RELATIONSHIP_TYPES.find((each) => each === value);
  if (found !== undefined) return found;
  const meant = suggest(String(value).toLowerCase(), RELATIONSHIP_TYPES);
  throw new Fault(
    meant === undefined
      ? `it must be one of ${RELATIONSHIP_TYPES.join(", ")}`
      : `${quote(String(value))} is not a type; did you mean ${meant}?`,
  );
}

function readRelationshipId(value: unknown): string | undefined {
  if (value === null || isIdentifier(value)) return value ?? undefined;
  throw new Fault("it must be text without control characters");
}

function readRoles(value: unknown): readonly string[] {
  const roles = typeof value === "string"
    ? value.split(/[;,]/).map((role) => role.trim()).filter((role) => role)
    : value ?? [];
  const { maxRoles, maxRoleLength } = DEFAULT_LIMITS;
  const areRoles = Array.isArray(roles) &&
    roles.every((role) => typeof role === "string" && role !== "");
  if (!areRoles) throw new Fault("it must be a list of roles");
  if (roles.length > maxRoles) {
    throw new Fault(`it has more than ${maxRoles} roles`);
  }
  if (roles.some((role) => role.length > maxRoleLength)) {
    throw new Fault(`a role has more than ${maxRoleLength} characters`);
  }
  if (roles.some((role) => /\p{Cc}/u.test(role))) {
    throw new Fault("a role must be text without control characters");
  }
  return roles;
}

function readPerson(value: unknown): string | undefined {
  if (value === null) return undefined;
  const text = Number.isSafeInteger(value) ? `${value}` : value;
  if (isIdentifier(text)) return text;
  throw new Fault("it must be text without control characters");
}

function dayReader(end: End) {
  return (value: unknown, { dates }: ListOptions): string | null => {
    if (value === null) return null;
    if (typeof value !== "string") {
      throw new Fault("it must be a date, such as 2026-12-31");
    }
    const read = readDay(isoDate(value, dates), end);
    if ("instant" in read) return read.instant;
    const isLocal = dates === undefined && LOCAL_DATE.test(value);
    throw new Fault(
      isLocal ? `${read.why}, or add --dates dmy or --dates mdy` : read.why,
    );
  };
}

/** A date such as 02.03.2027 or 2/3/2027. */
const LOCAL_DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/;

function isoDate(text: string, dates: ListOptions["dates"]): string {
  const [, first = "", , second = "", year] = LOCAL_DATE.exec(text) ?? [];
  if (year === undefined || dates === undefined) return text;
  const [day, month] = dates === "dmy" ? [first, second] : [second, first];
  return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

function readText(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  throw new Fault("it must be text");
}

function readMetadata(value: unknown): OpenObject | null {
  if (value === null || isObject(value)) return value;
  try {
    const parsed = typeof value === "string" ? parseJson(value) : undefined;
    if (isObject(parsed)) return parsed;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new Fault("it must be one strict JSON object");
}

/** The columns (or members) that a list may have, with the parser of each. */
const READERS = {
  subject: readSubject,
  type: readType,
  roles: readRoles,
  valid_from: dayReader("valid_from"),
  valid_until: dayReader("valid_until"),
  title: readText,
  department: readText,
  label: readText,
  relationship_id: readRelationshipId,
  metadata: readMetadata,
  name: readText,
  person: readPerson,
} as const;

type Column = keyof typeof READERS;
const COLUMNS = Object.keys(READERS) as readonly Column[];
