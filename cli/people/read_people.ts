/** A list of people, as CSV, JSON or YAML: what should be published. @module */

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
import { jwkToDidKey, sshKeyToJwk } from "@sig/jose";
import { type CsvRow, readCsv } from "@sig/web/names";
import { type End, readDay } from "../command_line/values.ts";
import { isSshKey } from "./subject.ts";
import { readYaml } from "./yaml.ts";

/** The format that a file's name tells; undefined if it tells none. */
export function formatOf(path: string): string | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "tsv" || ending === "txt") return "csv";
  if (ending === "yml") return "yaml";
  return ["csv", "json", "yaml"].find((format) => format === ending);
}

/** The columns, or members, that a list may have. */
export const COLUMNS = Object.freeze(
  [
    "subject",
    "type",
    "roles",
    "valid_from",
    "valid_until",
    "title",
    "department",
    "label",
    "relationship_id",
    "metadata",
    "name",
  ] as const,
);

type Column = typeof COLUMNS[number];

/** One row with what its list gives; cells of CSV are text. */
interface Row {
  readonly row: number;
  readonly values: ReadonlyMap<Column, unknown>;
}

/** What a list says. */
interface PeopleList {
  /** What should be published. */
  readonly desired: readonly DesiredRelationship[];
  /** Names by subject, which are never published. */
  readonly names: ReadonlyMap<string, string>;
}

/**
 * Reads a list. An empty cell, null or an empty list means none; what has no
 * column is kept as it is published.
 *
 * @throws {SigError} `invalid_field` with every fault, each with row and
 * column; `invalid_request` for an unknown column or for what is not a list;
 * `invalid_json`.
 */
export function readPeople(
  bytes: Uint8Array,
  format: string,
): PeopleList {
  const text = decode(bytes);
  const faults = new RowFaults();
  const rows = format === "csv" ? rowsOfCsv(readCsv(text), faults) : rowsOfList(
    format === "json" ? parseList(text) : readYaml(text, notAList),
  );
  const names = new Map<string, string>();
  const desired = rows.map((row) => {
    const reader = new RowReader(row, faults);
    const read = reader.read();
    const name = reader.name();
    const known = read && names.get(read.subject);
    if (read && name) names.set(read.subject, name);
    if (known && name && known !== name) {
      faults.add(
        row.row,
        "name",
        "another row has another name for the subject",
      );
    }
    return read;
  });
  faults.throwIfAny();
  // Without a fault no row is undefined.
  return { desired: desired.filter((each) => each !== undefined), names };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SigError("invalid_request", "Cannot read list: it is not UTF-8", {
      context: { hint: 'Save it as "CSV UTF-8".' },
    });
  }
}

function rowsOfCsv(
  [header, ...rows]: readonly CsvRow[],
  faults: RowFaults,
): readonly Row[] {
  if (header === undefined) {
    throw notAList("it is empty", "Its first row names the columns.");
  }
  // Spreadsheets say `Valid from`; members of JSON and YAML are as they are.
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
      faults.addRow(
        row,
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

/** Reads the values of one row, noting every fault. */
class RowReader {
  readonly #row: Row;
  readonly #faults: RowFaults;

  constructor(row: Row, faults: RowFaults) {
    this.#row = row;
    this.#faults = faults;
  }

  /** Undefined when a member that must be there is missing or wrong. */
  read(): DesiredRelationship | undefined {
    const subject = this.#subject();
    const type = this.#type();
    const members = {
      relationship_id: this.#relationshipId(),
      roles: this.#roles(),
      valid_from: this.#day("valid_from"),
      valid_until: this.#day("valid_until"),
      title: this.#text("title"),
      department: this.#text("department"),
      label: this.#text("label"),
      metadata: this.#metadata(),
      row: this.#row.row,
    };
    if (subject === undefined || type === undefined) return undefined;
    return { subject, type, ...members };
  }

  /** What the person is called here; undefined where nothing says it. */
  name(): string | undefined {
    return this.#text("name")?.trim() || undefined;
  }

  /** Undefined when it has no column, null when it is empty. */
  #value(column: Column): unknown {
    if (!this.#row.values.has(column)) return undefined;
    const value = this.#row.values.get(column);
    return value === "" || value === undefined ? null : value;
  }

  #fault(column: Column, detail: string): undefined {
    return this.#faults.add(this.#row.row, column, detail);
  }

  #subject(): string | undefined {
    const value = this.#value("subject") ?? null;
    if (value === null) return this.#fault("subject", "it is required");
    if (typeof value === "string" && isIdentifier(value) && isDid(value)) {
      return value;
    }
    if (typeof value === "string" && isSshKey(value)) {
      try {
        return jwkToDidKey(sshKeyToJwk(value));
      } catch (error) {
        if (!isSigError(error)) throw error;
        const { context: { hint }, reason } = error;
        return this.#fault("subject", `${reason}; ${hint}`);
      }
    }
    return this.#fault(
      "subject",
      "it must be a DID, such as did:web:alice.example or did:key:z6Mk…, or an OpenSSH public key",
    );
  }

  #type(): RelationshipType | undefined {
    const value = this.#value("type") ?? null;
    if (value === null) return this.#fault("type", "it is required");
    const found = RELATIONSHIP_TYPES.find((each) => each === value);
    if (found !== undefined) return found;
    const meant = suggest(String(value).toLowerCase(), RELATIONSHIP_TYPES);
    return this.#fault(
      "type",
      meant === undefined
        ? `it must be one of ${RELATIONSHIP_TYPES.join(", ")}`
        : `${quote(String(value))} is not a type; did you mean ${meant}?`,
    );
  }

  #relationshipId(): string | undefined {
    const value = this.#value("relationship_id") ?? null;
    if (value === null || isIdentifier(value)) return value ?? undefined;
    return this.#fault(
      "relationship_id",
      "it must be text without control characters",
    );
  }

  #roles(): readonly string[] | undefined {
    const value = this.#value("roles");
    if (value === undefined) return undefined;
    if (value === null) return [];
    const roles = typeof value === "string"
      ? value.split(";").map((role) => role.trim()).filter((role) => role)
      : value;
    const { maxRoles, maxRoleLength } = DEFAULT_LIMITS;
    const areRoles = Array.isArray(roles) &&
      roles.every((role) => typeof role === "string" && role !== "");
    if (!areRoles) return this.#fault("roles", "it must be a list of roles");
    if (roles.length > maxRoles) {
      return this.#fault("roles", `it has more than ${maxRoles} roles`);
    }
    if (roles.some((role) => role.length > maxRoleLength)) {
      return this.#fault(
        "roles",
        `a role has more than ${maxRoleLength} characters`,
      );
    }
    return roles;
  }

  #day(column: End): string | null | undefined {
    const value = this.#value(column);
    if (value === undefined || value === null) return value;
    if (typeof value !== "string") {
      return this.#fault(column, "it must be a date, such as 2026-12-31");
    }
    const read = readDay(value, column);
    return "instant" in read ? read.instant : this.#fault(column, read.why);
  }

  #text(column: Column): string | null | undefined {
    const value = this.#value(column);
    if (value === undefined || value === null || typeof value === "string") {
      return value;
    }
    return this.#fault(column, "it must be text");
  }

  #metadata(): OpenObject | null | undefined {
    const value = this.#value("metadata");
    if (value === undefined || value === null || isObject(value)) return value;
    if (typeof value === "string") {
      try {
        const parsed = parseJson(value);
        if (isObject(parsed)) return parsed;
      } catch (error) {
        if (!(error instanceof JsonError)) throw error;
      }
    }
    return this.#fault("metadata", "it must be one strict JSON object");
  }
}

/** Faults that are reported at most. */
const MAX_FAULTS = 100;

/** Collects the faults of a list. */
class RowFaults {
  readonly #faults: (Issue & { row: number; column?: string })[] = [];

  /** Notes a fault; answers with undefined for the value that is missing. */
  add(row: number, column: string, detail: string): undefined {
    this.#faults.push({
      pointer: `/${row}/${column}`,
      row,
      column,
      code: "invalid_field",
      detail: `row ${row}, column ${column}: ${detail}`,
    });
  }

  /** Notes a row that can't be told apart into columns. */
  addRow(row: number, detail: string): undefined {
    this.#faults.push({
      pointer: `/${row}`,
      row,
      code: "invalid_field",
      detail: `row ${row}: ${detail}`,
    });
  }

  /** @throws {SigError} `invalid_field` when there is any. */
  throwIfAny(): void {
    const [first] = this.#faults;
    if (first === undefined) return;
    const { row, column, detail } = first;
    const more = this.#faults.length - 1;
    throw new SigError(
      "invalid_field",
      `Cannot read list: ${detail}${
        more === 0 ? "" : ` (and ${more} more fault${more === 1 ? "" : "s"})`
      }`,
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
