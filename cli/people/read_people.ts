/**
 * Reads lists of people (CSV, JSON or YAML), the desired state of a feed.
 *
 * @module
 */

import {
  DEFAULT_LIMITS,
  isDid,
  isSigError,
  type Issue,
  JsonError,
  type OpenObject,
  parseJson,
  RELATIONSHIP_TYPES,
  type RelationshipType,
  SigError,
} from "@sig/core";
import { isIdentifier, isObject, quote, suggest } from "@sig/core/internal";
import type { DesiredRelationship } from "@sig/issuer";
import { parseYaml } from "@sig/api/program";
import { isSshKey, jwkToDidKey, sshKeyToJwk } from "@sig/jose/keys";
import { type CsvRow, decodeText, readCsv } from "@sig/issuer/people";
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

/**
 * Reads a list: the desired relationships, and display names by subject, which
 * are never published. An empty cell, null or an empty list clears a value; a
 * value without a column is kept as it is published.
 *
 * @throws {SigError} `invalid_field` with every fault, each with row and
 * column; `invalid_request` for an unknown column or if the text is not a list;
 * `invalid_json`.
 */
export async function readPeople(bytes: Uint8Array, format: string) {
  const text = decodeText(bytes, "list");
  const faults = new RowFaults();
  const rows = format === "csv" ? rowsOfCsv(readCsv(text), faults) : rowsOfList(
    format === "json"
      ? parseList(text)
      : await parseYaml(text, (why) => notAList(`it ${why}`)),
  );
  const names = new Map<string, string>();
  const desired = rows.map((row) => {
    const { name, ...read } = readRow(row, faults);
    const { subject, type } = read;
    if (subject === undefined || type === undefined) return undefined;
    const own = name?.trim();
    const known = names.get(subject);
    if (own) names.set(subject, own);
    if (known && own && known !== own) {
      faults.add(
        row.row,
        "name",
        "another row has another name for the subject",
      );
    }
    return { ...read, subject, type };
  });
  faults.throwIfAny();
  // A row is undefined only if it has a fault.
  const wanted: readonly DesiredRelationship[] = desired.filter((each) =>
    each !== undefined
  );
  return { desired: wanted, names };
}

function rowsOfCsv(
  [header, ...rows]: readonly CsvRow[],
  faults: RowFaults,
): readonly Row[] {
  if (header === undefined) {
    throw notAList("it is empty", "Its first row names the columns.");
  }
  // Spreadsheets use headers such as `Valid from`; JSON and YAML members must
  // match exactly.
  const columns = header.cells.map((cell) => {
    const name = cell.trim().toLowerCase().replaceAll(/[\s_-]+/g, "_");
    const isColumn = (COLUMNS as readonly string[]).includes(name);
    return readColumn(isColumn ? name : cell, header.row);
  });
  for (const name of ["subject", "type"] as const) {
    if (!columns.includes(name)) {
      throw notAList(
        `it has no column ${name}`,
        `Its columns may be ${COLUMNS.join(", ")}.`,
      );
    }
  }
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice !== undefined) throw notAList(`it has two columns ${twice}`);
  return rows.flatMap(({ row, cells }) => {
    if (cells.length !== columns.length) {
      faults.add(
        row,
        undefined,
        `it has ${cells.length} cells, the header has ${columns.length}; put a cell that contains the separator into quotes`,
      );
      return [];
    }
    const values = new Map(columns.map((name, at) => [name, cells[at]]));
    return { row, values };
  });
}

function rowsOfList(list: unknown): readonly Row[] {
  if (!Array.isArray(list)) {
    throw notAList("it must be a list of objects");
  }
  return list.map((item, at) => {
    const row = at + 1;
    if (!isObject(item)) throw notAList(`item ${row} must be an object`);
    const values = Object.entries(item).map(
      ([name, value]) => [readColumn(name, row), value] as const,
    );
    return { row, values: new Map(values) };
  });
}

function parseList(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new SigError(
      "invalid_json",
      `Cannot read list: ${
        error.pointer === "" ? "" : `${error.pointer}: `
      }${error.message}`,
      { context: { pointer: error.pointer } },
    );
  }
}

function readColumn(name: string, row: number): Column {
  if ((COLUMNS as readonly string[]).includes(name)) return name as Column;
  const meant = suggest(name.toLowerCase().replaceAll(/[ -]/g, "_"), COLUMNS);
  throw notAList(
    `row ${row}: unknown column ${quote(name)}`,
    meant === undefined
      ? `Columns are ${COLUMNS.join(", ")}.`
      : `Did you mean ${meant}?`,
  );
}

function notAList(why: string, hint?: string): SigError {
  return new SigError("invalid_request", `Cannot read list: ${why}`, {
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
function readRow({ row, values }: Row, faults: RowFaults): ReadRow {
  const read: { [column: string]: unknown } = { row };
  for (const column of COLUMNS) {
    const value = values.get(column);
    // Without a column the value is absent; an empty cell is null.
    const given = value === "" || value === undefined ? null : value;
    if (!values.has(column) && !REQUIRED.includes(column)) continue;
    try {
      read[column] = READERS[column](given);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.add(row, column, error.message);
    }
  }
  return read as ReadRow;
}

/** A reason why a value is invalid. */
class Fault extends Error {}

function readSubject(value: unknown): string {
  if (value === null) throw new Fault("it is required");
  if (typeof value === "string" && isIdentifier(value) && isDid(value)) {
    return value;
  }
  if (typeof value === "string" && isSshKey(value)) {
    try {
      return jwkToDidKey(sshKeyToJwk(value));
    } catch (error) {
      if (!isSigError(error)) throw error;
      throw new Fault(`${error.reason}; ${error.context.hint}`);
    }
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
    ? value.split(";").map((role) => role.trim()).filter((role) => role)
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
  return roles;
}

function dayReader(end: End) {
  return (value: unknown): string | null => {
    if (value === null) return null;
    if (typeof value !== "string") {
      throw new Fault("it must be a date, such as 2026-12-31");
    }
    const read = readDay(value, end);
    if ("instant" in read) return read.instant;
    throw new Fault(read.why);
  };
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
} as const;

type Column = keyof typeof READERS;
const COLUMNS = Object.keys(READERS) as readonly Column[];
const REQUIRED: readonly Column[] = ["subject", "type"];

/** Maximum number of faults that an error lists. */
const MAX_FAULTS = 100;

/** Collects the faults of a list. */
class RowFaults {
  readonly #faults: (Issue & { row: number; column?: string })[] = [];

  add(row: number, column: string | undefined, detail: string): void {
    const isWhole = column === undefined;
    this.#faults.push({
      pointer: isWhole ? `/${row}` : `/${row}/${column}`,
      row,
      ...(isWhole ? {} : { column }),
      code: "invalid_field",
      detail: `row ${row}${isWhole ? "" : `, column ${column}`}: ${detail}`,
    });
  }

  /** @throws {SigError} `invalid_field` if there are faults. */
  throwIfAny(): void {
    const [first] = this.#faults;
    if (first === undefined) return;
    const { row, column, detail } = first;
    const more = this.#faults.length - 1;
    const others = more === 0
      ? ""
      : ` (and ${more} more fault${more === 1 ? "" : "s"})`;
    throw new SigError(
      "invalid_field",
      `Cannot read list: ${detail}${others}`,
      {
        context: {
          row,
          ...(column === undefined ? {} : { column }),
          ...(more === 0 ? {} : { errors: this.#faults.slice(0, MAX_FAULTS) }),
          hint: "Nothing was written. Fix the list and rerun.",
        },
      },
    );
  }
}
