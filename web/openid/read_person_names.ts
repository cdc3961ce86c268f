/** What applications are told that people are called (`--names`). @module */

import { escapeInvisible, isDid } from "@sig/core";
import { NameFaults, readNames } from "../names/read_names.ts";
import type { Naming } from "./claims.ts";

/** The names of people; no two have the same username. */
export interface PersonNames extends Naming {
  /** How many there are. */
  readonly size: number;
}

/** Characters of a name at most. */
const MAX_NAME_LENGTH = 200;

/**
 * Reads the operator's file. Where it has no column `username`, or an empty cell
 * in it, a person's name is the username. Programs may tell people apart by it,
 * whatever OIDC Core §5.7 says: one that two people would have is a fault, also
 * where they differ in capital letters only, and so is one that looks like the
 * digest of somebody without a name.
 *
 * @throws {SigError} `invalid_request` with every row that is wrong.
 */
export function readPersonNames(bytes: Uint8Array, path: string): PersonNames {
  const people = readNames(bytes, path);
  const faults = new NameFaults(path);
  const rowOf = new Map<string, number>();
  for (const [subject, { name, username = name, row }] of people) {
    if (!isDid(subject)) faults.add(row, "name a subject that is no DID");
    for (const text of new Set([name, username])) {
      if (text.length > MAX_NAME_LENGTH || escapeInvisible(text) !== text) {
        faults.add(
          row,
          `have one longer than ${MAX_NAME_LENGTH} characters, or with invisible ones`,
        );
      }
    }
    const folded = username.normalize("NFKC").toLowerCase();
    if (/^u-[0-9a-f]{16}$/.test(folded)) {
      faults.add(row, "have a username of the form of a digest");
    }
    const other = rowOf.get(folded);
    if (other !== undefined) {
      faults.add(
        row,
        `give two people one username, that of row ${other}: a column username can tell them apart`,
      );
    }
    rowOf.set(folded, row);
  }
  faults.throwIfAny();
  return {
    nameOf: (subject) => people.get(subject)?.name,
    usernameOf: (subject) => {
      const person = people.get(subject);
      return person?.username ?? person?.name;
    },
    size: people.size,
  };
}
