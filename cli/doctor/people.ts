/** The people file of an issuer's directory. @module */

import {
  type FeedState,
  isSigError,
  type Issue,
  personOf,
  type SigError,
} from "@sig/core";
import type { People } from "@sig/issuer/people";
import { isWritable, peopleFile, readPeopleFile } from "../people/people.ts";
import type { Io } from "../terminal/io.ts";
import type { FindingTable, Found } from "./finding.ts";

/** The people file, or why it can't be read. */
interface ExaminedPeople {
  readonly path: string;
  readonly people?: People;
  readonly error?: SigError;
  /** Whether other users may change it. */
  readonly isWritable: boolean;
  /** Whether an event is about a subject. */
  isInFeed(subject: string): boolean;
}

/** Reads the people file of a directory. */
export async function readDirectoryPeople(
  io: Io,
  dir: string,
  state: FeedState,
): Promise<ExaminedPeople> {
  const about = {
    path: peopleFile(dir),
    isWritable: isWritable(await io.fileMode(peopleFile(dir))),
    isInFeed: (subject: string) =>
      state.history.relationshipsOf(subject).size > 0,
  };
  try {
    const rootOf = (subject: string) => personOf(state, subject);
    return {
      ...about,
      people: await readPeopleFile({ flags: {}, io }, dir, rootOf),
    };
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { ...about, error };
  }
}

/** Findings about the people file. */
export const PEOPLE_FINDINGS = {
  people_file_invalid: {
    severity: "error",
    when: "The people file can't be read",
    why:
      "Commands that name people and lists with persons or names are refused, and a login server does not start with it",
    mend: "Correct its rows; save it as CSV UTF-8",
    find({ error, path }) {
      if (error === undefined) return [];
      const rows = (error.context.errors ?? []) as readonly Issue[];
      const more = rows.slice(1).map(({ detail }) => `; ${detail}`).join("");
      return [[`${error.message}${more}`, path]];
    },
  },
  people_file_writable: {
    severity: "error",
    when: "Other users of the machine may change the people file",
    why: "It decides whose keys a name means, and which keys are one person",
    mend: "chmod go-w it, and check its rows",
    find: ({ isWritable, path }) => isWritable ? [path] : [],
  },
  persons_disagree: {
    severity: "warning",
    when: "The people file and the feed disagree about who is a person",
    why:
      "The feed decides about sub: applications see several people, or one person with the rights of two",
    mend: "Correct the column person; a link in the feed is permanent",
    find({ isInFeed, path, people }) {
      return (people?.conflicts(isInFeed) ?? []).map(
        ({ persons, roots }): Found => [
          persons.length > 1
            ? `the persons ${persons.join(", ")} have one root in the feed, ${
              roots[0]
            }`
            : `the person ${
              persons[0]
            } has ${roots.length} roots in the feed, ${roots.join(", ")}`,
          path,
        ],
      );
    },
  },
} as const satisfies FindingTable<ExaminedPeople>;
