/** Warns about words of a question that no event of a feed has. @module */

import { type FeedState, isDid, type Warning } from "@sig/core";
import { quote, suggest } from "@sig/core/internal";

/** The words of a question or a filter. */
interface AskedWords {
  /** The keys of the person that was asked about. */
  readonly subjects?: readonly string[] | undefined;
  readonly roles?: readonly (string | undefined)[];
  readonly types?: readonly (string | undefined)[];
}

/**
 * Returns a warning for each word that the feed has never had, with the nearest
 * word that it has had. The answer stays as it is: a misspelt role denies, as
 * an unknown one does.
 */
export function neverSeen(
  { history }: FeedState,
  { roles = [], subjects = [], types = [] }: AskedWords,
): readonly Warning[] {
  if ([...subjects, ...roles, ...types].every((word) => word === undefined)) {
    return [];
  }
  const known = {
    role: new Set<string>(),
    type: new Set<string>(),
    subject: new Set<string>(),
  };
  for (const versions of history.versions.values()) {
    for (const { state } of versions) {
      known.type.add(state.relationship_type);
      known.subject.add(state.subject);
      for (const role of state.roles) known.role.add(role);
    }
  }
  const isKnown = subjects.some((each) => known.subject.has(each));
  const asked = [
    ...(isKnown ? [] : subjects.slice(0, 1))
      .map((each) => ["subject", each] as const),
    ...roles.map((each) => ["role", each] as const),
    ...types.map((each) => ["type", each] as const),
  ];
  return asked.flatMap(([what, word]) => {
    if (word === undefined || known[what].has(word)) return [];
    const near = nearest(what, word, known[what]);
    const detail = `no event ${
      what === "subject" ? "is about" : `has the ${what}`
    } ${quote(word)}${near === undefined ? "" : `; did you mean ${near}?`}`;
    return [{ code: "never_seen" as const, detail }];
  });
}

function nearest(
  what: "role" | "type" | "subject",
  word: string,
  known: ReadonlySet<string>,
): string | undefined {
  if (what === "subject" && !isDid(word)) {
    return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(word)
      ? `did:web:${word}`
      : undefined;
  }
  // The letters of a key are random.
  if (word.startsWith("did:key:")) return undefined;
  return suggest(
    word,
    [...known].filter((each) => !each.startsWith("did:key:")),
  );
}
