/** The people file of an issuer's directory. @module */

import { type FeedState, isSigError, type Issue, personOf } from "@sig/core";
import { isWritable, peopleFile, readPeopleFile } from "../people/people.ts";
import type { Io } from "../terminal/io.ts";
import { error, type FindingTable, type Found, warning } from "./finding.ts";

type ExaminedPeople = Awaited<ReturnType<typeof readDirectoryPeople>>;

/** Reads the people file of a directory. */
export async function readDirectoryPeople(
  io: Io,
  dir: string,
  state: FeedState,
) {
  const path = peopleFile(dir);
  const rootOf = (subject: string) => personOf(state, subject);
  /** The people file, or why it can't be read. */
  const people = await readPeopleFile({ flags: {}, io }, dir, rootOf)
    .catch((error) => {
      if (isSigError(error)) return error;
      throw error;
    });
  return {
    path,
    people,
    /** Whether other users may change it. */
    isWritable: isWritable(await io.fileMode(path)),
    /** Whether an event is about a subject. */
    isInFeed: (subject: string) =>
      state.history.relationshipsOf(subject).size > 0,
  };
}

/** Findings about the people file. */
export const PEOPLE_FINDINGS = {
  people_file_invalid: error(
    "The people file can't be read",
    "Commands that name people and lists with persons or names are refused, and a login server does not start with it",
    "Correct its rows; save it as CSV UTF-8",
    ({ path, people }) => {
      if (!isSigError(people)) return [];
      const rows = (people.context.errors ?? []) as readonly Issue[];
      const more = rows.slice(1).map(({ detail }) => `; ${detail}`).join("");
      return [[`${people.message}${more}`, path]];
    },
  ),
  people_file_writable: error(
    "Other users of the machine may change the people file",
    "It decides whose keys a name means, and which keys are one person",
    "chmod go-w it, and check its rows",
    ({ isWritable, path }) => isWritable ? [path] : [],
  ),
  persons_disagree: warning(
    "The people file and the feed disagree about who is a person",
    "The feed decides about sub: applications see several people, or one person with the rights of two",
    "Correct the column person; a link in the feed is permanent",
    ({ isInFeed, path, people }) => {
      if (isSigError(people)) return [];
      return people.conflicts(isInFeed).map(
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
  ),
} as const satisfies FindingTable<ExaminedPeople>;
