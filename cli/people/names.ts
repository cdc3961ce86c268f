/** Display names for DIDs: local, never published. @module */

import { isSigError } from "@sig/core";
import { file, optional, type Values } from "@sig/api/program";
import type { Call } from "../command_line/command.ts";
import { safe, warn } from "../output/write.ts";

/** The flag for the names file. */
export const NAMES_FLAG = {
  names: optional(
    file,
    "CSV of subject,name for display (default: DIR/.sig/names.csv of a directory)",
  ),
};

/** Flags that locate the names file. Not every command has both. */
export interface NamesValue extends Partial<Values<typeof NAMES_FLAG>> {
  readonly dir?: string | undefined;
}

/** Display names by subject. */
export type Names = ReadonlyMap<string, string>;

/** Returns the path of the names file in an issuer's directory. */
export function namesFile(dir: string): string {
  return `${dir}/.sig/names.csv`;
}

/**
 * Reads the file of `--names`, else `.sig/names.csv` of the issuer's directory
 * if it exists.
 *
 * @throws {SigError} `invalid_request` for an invalid file; `source_not_found`.
 */
export async function readNames(
  { flags, io }: Pick<Call<NamesValue>, "flags" | "io">,
  dir: string | undefined = flags.dir,
): Promise<Names> {
  const given = flags.names;
  const beside = dir === undefined ? undefined : namesFile(dir);
  const path = given ?? beside;
  if (path === undefined) return new Map();
  if (given === undefined && !io.exists(path)) return new Map();
  const web = await import("@sig/web/names");
  const bytes = await io.readFile(path, web.MAX_NAMES_BYTES);
  const people = web.readNames(bytes, path);
  return new Map(Array.from(people, ([subject, { name }]) => [subject, name]));
}

/** Returns the names, with the person's name for each key of a person. */
export function namesOfKeys(
  names: Names,
  subjects: Iterable<string>,
  personOf: (subject: string) => string = (subject) => subject,
): Names {
  const all = new Map(names);
  for (const subject of subjects) {
    const name = names.get(subject) ?? names.get(personOf(subject));
    if (name !== undefined) all.set(subject, name);
  }
  return all;
}

const HEADER = "subject,name";

/**
 * Adds rows to `.sig/names.csv` of the issuer's directory. A failure is a
 * warning, not an error, because the events are already published.
 */
export async function saveNames(
  call: Call<NamesValue>,
  dir: string,
  names: Names,
): Promise<void> {
  const path = namesFile(dir);
  const rowOf = (cells: readonly string[]) => cells.map(quoteCell).join(",");
  let rows: readonly string[] = Array.from(names, rowOf);
  const byHand = (why: string, missing: readonly string[] = rows) =>
    warn(
      call,
      missing.length === 1
        ? `the name was not saved: ${why}; you can add ${missing[0]} to ${path}`
        : `${missing.length} names were not saved: ${why}; you can add them to ${path}`,
    );
  try {
    const known = await readNames({ ...call, flags: {} }, dir);
    for (const [subject, name] of names) {
      const other = known.get(subject);
      if (other === undefined || other === name.trim()) continue;
      byHand(`it has another name for this subject, ${other}`, [
        rowOf([subject, name]),
      ]);
    }
    const fresh = [...names].filter(([subject]) => !known.has(subject));
    if (fresh.length === 0) return;
    rows = fresh.map(rowOf);
    const { MAX_NAMES_BYTES } = await import("@sig/web/names");
    const text = call.io.exists(path)
      ? new TextDecoder().decode(await call.io.readFile(path, MAX_NAMES_BYTES))
      : "";
    const [first] = text.split(/\r?\n/, 1);
    if (text !== "" && first !== HEADER) {
      return byHand(`its first row is not ${HEADER}`);
    }
    const before = text === ""
      ? `${HEADER}\n`
      : text.endsWith("\n")
      ? ""
      : "\n";
    await call.io.appendFile(path, `${before}${rows.join("\n")}\n`);
    if (call.format === "text") {
      const [[, name]] = fresh as [[string, string]];
      const what = fresh.length === 1
        ? `the name ${safe(name)}`
        : `${fresh.length} names`;
      call.io.stderr(`Saved ${what} in ${safe(path)}\n`);
    }
  } catch (error) {
    if (!isSigError(error)) throw error;
    byHand(error.message);
  }
}

function quoteCell(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}
