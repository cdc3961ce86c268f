/** The operator's people file: local, never published. @module */

import { isSigError } from "@sig/core";
import { file, optional, type Values } from "@sig/api/program";
import type { People, RootOf } from "@sig/issuer/people";
import type { Call } from "../command_line/command.ts";
import { warn } from "../output/write.ts";

/** The flag for the people file. */
export const PEOPLE_FLAG = {
  people: optional(
    file,
    "CSV with subject, person, name (default: DIR/.sig/people.csv of a directory)",
    { mistaken: ["names"] },
  ),
};

/** Flags that locate the people file. Not every command has both. */
export interface PeopleValue extends Partial<Values<typeof PEOPLE_FLAG>> {
  readonly dir?: string | undefined;
}

/** Returns the path of the people file in an issuer's directory. */
export function peopleFile(dir: string): string {
  return `${dir}/.sig/people.csv`;
}

/**
 * Reads the file of `--people`, else `.sig/people.csv` of the issuer's
 * directory if it exists.
 *
 * @param rootOf The links of the feed (default: none).
 * @throws {SigError} `invalid_request` for an invalid file; `source_not_found`.
 */
export async function readPeopleFile(
  { flags, io }: Pick<Call<PeopleValue>, "flags" | "io">,
  dir: string | undefined = flags.dir,
  rootOf?: RootOf,
): Promise<People> {
  const given = flags.people;
  const path = given ?? (dir === undefined ? undefined : peopleFile(dir));
  const { MAX_PEOPLE_BYTES, People, readPeople } = await import(
    "@sig/issuer/people"
  );
  const isMissing = path === undefined ||
    given === undefined && !io.exists(path);
  const keys = isMissing
    ? []
    : readPeople(await io.readFile(path, MAX_PEOPLE_BYTES), path);
  return new People(keys, rootOf);
}

/**
 * Reads the people file for a command that appends and needs it for display
 * only: a fault is a warning.
 */
export async function tryReadPeopleFile(
  call: Call<PeopleValue>,
): Promise<People> {
  try {
    await warnIfWritable(call);
    return await readPeopleFile(call);
  } catch (error) {
    if (!isSigError(error)) throw error;
    warn(call, `${error.message}; the command continues without it`);
    const { People } = await import("@sig/issuer/people");
    return new People([]);
  }
}

/**
 * Warns if other users may change the people file, which decides who is a
 * person.
 */
export async function warnIfWritable(call: Call<PeopleValue>): Promise<void> {
  const { dir, people } = call.flags;
  const path = people ?? (dir === undefined ? undefined : peopleFile(dir));
  if (path === undefined || !isWritable(await call.io.fileMode(path))) return;
  const shown = JSON.stringify(path);
  warn(call, `other users may change the people file: chmod go-w ${shown}`);
}

/** Returns whether permission bits let other users write. */
export function isWritable(mode: number | null): boolean {
  return ((mode ?? 0) & 0o022) !== 0;
}

/**
 * Returns an order for reports: by name, then those without a name by DID. It
 * does not depend on the locale.
 */
export function byName<T>(
  people: People,
  subjectOf: (each: T) => string,
): (a: T, b: T) => number {
  const keyOf = (each: T) => {
    const name = nameIn(people, subjectOf(each));
    const folded = name.normalize("NFKD").toLowerCase();
    return `${name === "" ? 1 : 0}${folded}\n${subjectOf(each)}`;
  };
  return (a, b) => {
    const [first, second] = [keyOf(a), keyOf(b)];
    return first < second ? -1 : first > second ? 1 : 0;
  };
}

/** Returns the display name of a key's person, or an empty text. */
export function nameIn(people: People, subject: string): string {
  return people.named(subject).name ?? "";
}
