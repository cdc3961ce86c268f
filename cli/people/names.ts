/** Names for people behind DIDs: local, for display only, never published. @module */

import type { FlagSpec } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";

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
 * @throws {SigError} `invalid_request` for a file that can't be meant;
 * `source_not_found`.
 */
export async function readNames(call: Call, dir?: string): Promise<Names> {
  const { io } = call;
  const given = call.text("names");
  const beside = dir === undefined ? undefined : namesFile(dir);
  const path = given ?? beside;
  if (path === undefined) return new Map();
  if (given === undefined && !io.exists(path)) return new Map();
  const web = await import("@sig/web/names");
  const bytes = await io.readFile(path, web.MAX_NAMES_BYTES);
  const people = web.readNames(bytes, path);
  return new Map(Array.from(people, ([subject, { name }]) => [subject, name]));
}
