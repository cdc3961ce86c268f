/** Reads and writes the operator's people file, which is never published. @module */

import { isDid, isSigError, SigError } from "@sig/core";
import { isIdentifier, quote } from "@sig/core/internal";
import { isSshKey, jwkToDidKey, sshKeyToJwk } from "@sig/jose/keys";
import type { FeedStore } from "../store/feed_store.ts";
import {
  decodeText,
  quoteCell,
  readCsv,
  RowFaults,
  separatorOf,
} from "./csv.ts";

/** Path of the people file in an issuer's directory. */
export const PEOPLE_PATH = "/.sig/people.csv";

/** Maximum size of a people file in bytes; 100,000 keys take about 10 MB. */
export const MAX_PEOPLE_BYTES = 64 * 1024 * 1024;

/** A key of a person, as a row of the people file describes it. */
export interface PersonKey {
  /** The DID of the key. */
  readonly subject: string;
  /** The organisation's own id of the person. */
  readonly person?: string | undefined;
  /** The display name. */
  readonly name?: string | undefined;
  /** The user name for logins, unique among people. */
  readonly username?: string | undefined;
  /** The row in the file, where the header is row 1; absent for a new key. */
  readonly row?: number | undefined;
}

const LOCK = { timeoutMs: 10_000 };

/** The columns of the people file; other columns are the operator's own. */
const COLUMNS = ["subject", "person", "name", "username"] as const;
/** The members of a key, besides the key. */
const MEMBERS = ["person", "name", "username"] as const;

/**
 * Returns the DID of a DID or an OpenSSH key; undefined for any other text.
 *
 * @throws {SigError} `invalid_key` for an OpenSSH key that is not Ed25519.
 */
export function readSubject(text: string): string | undefined {
  if (isIdentifier(text) && isDid(text)) return text;
  return isSshKey(text) ? jwkToDidKey(sshKeyToJwk(text)) : undefined;
}

/**
 * Reads a people file: CSV with a column `subject` and optionally `person`,
 * `name` and `username`, in any order and case. Rows with one `person` are keys
 * of one person. Equal rows count once.
 *
 * @param path The file's path, for error messages.
 * @throws {SigError} `invalid_request` for text that is not UTF-8 or has no
 * column `subject`, and for rows with a missing or invalid subject, a key of
 * two people, two names of a key, or a user name of two people; it lists every
 * such row, up to 200.
 *
 * @example
 * ```ts
 * import { readPeople } from "@sig/issuer/people";
 * import { assertEquals } from "@std/assert";
 *
 * const file = new TextEncoder().encode(
 *   "subject,person,name\ndid:web:ada.example,17,Ada\n",
 * );
 * assertEquals(readPeople(file, "people.csv")[0]?.person, "17");
 * ```
 */
export function readPeople(
  bytes: Uint8Array,
  path: string,
): readonly PersonKey[] {
  const what = `people file ${quote(path)}`;
  const [header, ...rows] = readCsv(decodeText(bytes, what), what);
  const columns = header?.cells.map((cell) => cell.toLowerCase()) ?? [];
  if (!columns.includes("subject")) {
    throw new SigError("invalid_request", {
      action: `read ${what}`,
      reason: "it has no column subject",
      context: { hint: `Its columns are ${COLUMNS.join(", ")}.` },
    });
  }
  const faults = peopleFaults(path);
  const twice = COLUMNS.find((name) =>
    columns.indexOf(name) !== columns.lastIndexOf(name)
  );
  if (twice !== undefined) faults.add(1, `it has two columns ${twice}`);
  const keys = new Map<
    string,
    { -readonly [M in keyof PersonKey]: PersonKey[M] }
  >();
  for (const { row, cells } of rows) {
    const cell = (name: string) => cells[columns.indexOf(name)] || undefined;
    const subject = subjectOf(cell("subject"), row, faults);
    if (subject === undefined) continue;
    const key = keys.get(subject) ?? { subject, row };
    keys.set(subject, key);
    for (const name of MEMBERS) {
      const value = cell(name);
      key[name] ??= value;
      if (value === undefined || key[name] === value) continue;
      const what = name === "person" ? "people" : `${name}s`;
      faults.add(row, `its key has two ${what}; row ${key.row} has the other`);
    }
  }
  requireUniqueUsernames(keys.values(), faults);
  faults.sort().throwIfAny();
  return [...keys.values()];
}

function subjectOf(
  text: string | undefined,
  row: number,
  faults: RowFaults,
): string | undefined {
  let why = text === undefined
    ? "it has no subject"
    : "its subject is not a DID and not an OpenSSH key";
  try {
    const subject = text === undefined ? text : readSubject(text);
    if (subject !== undefined) return subject;
  } catch (error) {
    if (!isSigError(error)) throw error;
    why = `its subject is not usable: ${error.reason}`;
  }
  faults.add(row, why);
  return undefined;
}

/** Applications link accounts by user name, so two people can't share one. */
function requireUniqueUsernames(
  keys: Iterable<PersonKey>,
  faults: RowFaults,
): void {
  const known = new Map<string, PersonKey>();
  for (const key of keys) {
    if (key.username === undefined) continue;
    const folded = foldUsername(key.username);
    const other = known.get(folded);
    if (other === undefined) known.set(folded, key);
    else if (other.person === undefined || other.person !== key.person) {
      faults.add(
        key.row ?? 1,
        `its username is that of another person in row ${other.row}`,
      );
    }
  }
}

/** Returns the same text for user names that programs may confuse. */
export function foldUsername(username: string): string {
  return username.normalize("NFKC").toLowerCase();
}

/**
 * Returns an empty list of the faults of a people file, which never show its
 * content.
 *
 * @param flag The flag that names the file (default: none).
 */
export function peopleFaults(path: string, flag?: string): RowFaults {
  return new RowFaults("invalid_request", `read people file ${quote(path)}`, {
    ...(flag === undefined ? {} : { flag }),
    hint: "Correct these rows; each key has one person and one name.",
  });
}

/** Keys that were added to a people file, and those that it contradicts. */
export interface SavedPeople {
  /** Keys that were added, or whose empty cells were filled. */
  readonly saved: readonly PersonKey[];
  /** Keys that the file has with another value, which it keeps. */
  readonly kept: readonly PersonKey[];
}

/**
 * Adds keys to the people file of an issuer, under the feed's lock, by a
 * temporary file and a rename. Other rows and columns stay as they are, and a
 * value of the operator is never replaced.
 *
 * @throws {SigError} as {@linkcode readPeople}, and those of the store; then
 * nothing is changed.
 */
export async function savePeople(
  store: FeedStore,
  keys: readonly PersonKey[],
): Promise<SavedPeople> {
  return await store.exclusively(LOCK, async (writer) => {
    const bytes = await store.read(PEOPLE_PATH, MAX_PEOPLE_BYTES) ??
      new Uint8Array();
    const { text, ...done } = addPeople(bytes, keys);
    if (done.saved.length > 0) {
      await writer.replace(PEOPLE_PATH, new TextEncoder().encode(text));
    }
    return done;
  });
}

/** Returns the text of a people file with further keys. */
export function addPeople(
  bytes: Uint8Array,
  keys: readonly PersonKey[],
): SavedPeople & { readonly text: string } {
  const path = PEOPLE_PATH.slice(1);
  const isNew = bytes.length === 0;
  const old = isNew ? "" : decodeText(bytes, "people file");
  const known = new Map(
    (isNew ? [] : readPeople(bytes, path)).map((key) => [key.subject, key]),
  );
  const saved: PersonKey[] = [];
  const kept: PersonKey[] = [];
  for (const key of keys) {
    const before = known.get(key.subject);
    const members = MEMBERS.filter((name) => key[name] !== undefined);
    if (members.some((name) => (before?.[name] ?? key[name]) !== key[name])) {
      kept.push(key);
    }
    const fresh = members.filter((name) => before?.[name] === undefined);
    if (fresh.length === 0) continue;
    const row = {
      subject: key.subject,
      ...before,
      ...Object.fromEntries(fresh.map((name) => [name, key[name]])),
    };
    known.set(key.subject, row);
    saved.push(row);
  }
  return { saved, kept, text: withRows(old, saved) };
}

/**
 * Returns a table with the cells of these keys: in the row of the key if it has
 * one, else in a new row. All other cells stay.
 */
function withRows(text: string, keys: readonly PersonKey[]): string {
  if (keys.length === 0) return text;
  const separator = text === "" ? "," : separatorOf(text);
  const [header, ...rows] = readCsv(text, "people file");
  const names = [...header?.cells ?? []];
  const columnOf = (name: string) =>
    names.findIndex((column) => column.toLowerCase() === name);
  for (const name of COLUMNS) {
    const isNeeded = keys.some((key) => key[name] !== undefined);
    if (columnOf(name) < 0 && isNeeded) names.push(name);
  }
  const fill = (cells: readonly string[], key: PersonKey | undefined) =>
    names.map((column, at) => {
      const name = COLUMNS.find((each) => each === column.toLowerCase());
      return cells[at] || (name && key?.[name]) || "";
    });
  const waiting = new Map(keys.map((key) => [key.subject, key]));
  const all = rows.map(({ cells }) => {
    const subject = readSubject(cells[columnOf("subject")] ?? "") ?? "";
    const key = waiting.get(subject);
    waiting.delete(subject);
    return fill(cells, key);
  });
  for (const key of waiting.values()) all.push(fill([], key));
  const [mark = ""] = /^\uFEFF/.exec(text) ?? [];
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = [names, ...all].map((cells) =>
    cells.map((cell) => quoteCell(cell)).join(separator)
  );
  return `${mark}${lines.map((line) => line + end).join("")}`;
}
