/** Names for people behind DIDs: local, for display only, never published. @module */

import { quote, SigError } from "@sig/core";
import { type FlagSpec, usageError } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";

/** Bytes of a file of names: 100,000 people take about 10 MB. */
const MAX_NAMES_BYTES = 64 * 1024 * 1024;

/** The flag that names the file. */
export const NAMES_FLAG: FlagSpec = {
  name: "names",
  value: "FILE",
  help:
    "CSV of subject,name for display; DIR/.sig/names.csv of a directory unless told",
};

/** What people are called. */
export type Names = ReadonlyMap<string, string>;

/** Where the names of an issuer's people lie, beside what is published. */
export function namesFile(dir: string): string {
  return `${dir}/.sig/names.csv`;
}

/**
 * Reads the file of `--names`, else `.sig/names.csv` of the issuer's directory
 * where there is one.
 *
 * @throws {SigError} `invalid_request` for a file that has not the columns
 * `subject` and `name`, or has two names for a subject; `source_not_found`.
 */
export async function readNames(call: Call, dir?: string): Promise<Names> {
  const { io } = call;
  const given = call.text("names");
  const beside = dir === undefined ? undefined : namesFile(dir);
  const path = given ?? beside;
  if (path === undefined) return new Map();
  if (given === undefined && !io.exists(path)) return new Map();
  const bytes = await io.readFile(path, MAX_NAMES_BYTES);
  const { readCsv } = await import("./read_csv.ts");
  const [header, ...rows] = readCsv(decode(bytes, path));
  const subjectAt = header?.cells.indexOf("subject") ?? -1;
  const nameAt = header?.cells.indexOf("name") ?? -1;
  if (subjectAt < 0 || nameAt < 0) {
    throw usageError(
      `names in ${quote(path)} must have the columns subject and name`,
      { flag: "--names", hint: "Its first row: subject,name." },
    );
  }
  const names = new Map<string, string>();
  for (const { row, cells } of rows) {
    const [subject, name] = [cells[subjectAt] ?? "", cells[nameAt] ?? ""];
    if (subject === "" || name === "") continue;
    if ((names.get(subject) ?? name) !== name) {
      throw usageError(
        `names in ${quote(path)} call one subject two names (row ${row})`,
        { flag: "--names", hint: "Leave one row for each subject." },
      );
    }
    names.set(subject, name);
  }
  return names;
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
