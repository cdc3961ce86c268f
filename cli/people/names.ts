/** Names for people behind DIDs: local, for display only, never published. @module */

import { isSigError } from "@sig/core";
import { file, optional, type Values } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";
import { safe, warn } from "../output/write.ts";

/** The flag that names the file. */
export const NAMES_FLAG = {
  names: optional(
    file,
    "CSV of subject,name for display (default: DIR/.sig/names.csv of a directory)",
  ),
};

/** What names are read by; not every command has both. */
export interface NamesValue extends Partial<Values<typeof NAMES_FLAG>> {
  /** The issuer's directory. */
  readonly dir?: string | undefined;
}

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

const HEADER = "subject,name";
/**
 * Adds a row to `.sig/names.csv` of the issuer's directory. What is published
 * is published by then: that it can't be done is said, not thrown.
 */
export async function saveName(
  call: Call<NamesValue>,
  dir: string,
  subject: string,
  name: string,
): Promise<void> {
  const path = namesFile(dir);
  const row = [subject, name].map(quoteCell).join(",");
  const byHand = (why: string) =>
    warn(call, `the name was not saved: ${why}; you can add ${row} to ${path}`);
  try {
    const known = (await readNames(call, dir)).get(subject);
    if (known !== undefined && known !== name.trim()) {
      byHand(`it has another name for this subject, ${known}`);
    }
    if (known !== undefined) return;
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
    await call.io.appendFile(path, `${before}${row}\n`);
    if (call.format === "text") {
      call.io.stderr(`Saved the name ${safe(name)} in ${safe(path)}\n`);
    }
  } catch (error) {
    if (!isSigError(error)) throw error;
    byHand(error.message);
  }
}

function quoteCell(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}
