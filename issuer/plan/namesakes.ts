/** People with the name of another one, who may be the same person. @module */

import type { EventDraft } from "../append/draft.ts";
import { quote } from "@sig/core/internal";
import { appearance } from "../people/similar_names.ts";
import { PersonIndex } from "./person_index.ts";
import type { EndedRelationship, PublishedState } from "./published.ts";

/** Returns the names of a key, as they look: of the person, and the label. */
function namesOf(
  { people }: PersonIndex,
  subject: string,
  label: unknown,
): readonly string[] {
  return [people.named(subject).name, label].flatMap((name) =>
    typeof name === "string" && name.trim() !== "" ? [appearance(name)] : []
  );
}

/**
 * Finds new people with the name or label of a person of the feed, or of
 * another new one. An id tells two people apart, unless the other one has left.
 *
 * @returns a sentence about each.
 */
export function findNamesakes(
  index: PersonIndex,
  drafts: readonly EventDraft[],
): readonly string[] {
  const { people, state } = index;
  /** The first key with a name. */
  const known = new Map<string, string>();
  const note = (subject: string, names: readonly string[]) => {
    for (const name of names) if (!known.has(name)) known.set(name, subject);
  };
  for (const { upsert } of state.relationships.values()) {
    const { display, subject } = upsert;
    note(subject, namesOf(index, subject, display?.label));
  }
  const seen = new Set<string>();
  return drafts.flatMap((draft) => {
    if (draft.event_type !== "relationship.upsert") return [];
    const { display, subject } = draft;
    if (index.isKnown(subject) || seen.has(subject)) return [];
    seen.add(subject);
    const person = index.personOf(subject);
    const names = namesOf(index, subject, display?.label);
    const other = names.map((name) => known.get(name)).find((each) =>
      each !== undefined && index.personOf(each) !== person
    );
    note(subject, names);
    if (other === undefined || index.keysOf(person).length > 0) return [];
    // An id tells people apart, but a person who left may get a new one.
    const hasId = people.named(subject).person !== null;
    const isBack = index.isKnown(other) && !index.hasAccess(other) &&
      index.isEndedKey(other);
    if (hasId && !isBack) return [];
    const name = people.named(subject).name ?? display?.label;
    return [
      `${quote(subject)} is new and has the name of ${quote(other)}, ${
        quote(String(name))
      }: give both rows a column person with one id if it is the same person`,
    ];
  });
}

/**
 * Returns the ending of a person of this name who has no access any more;
 * undefined if there is none, or if another person of this name has access.
 */
export function endedNamesake(
  state: PublishedState,
  name: string,
  now: Date,
): (EndedRelationship & { readonly subject: string }) | undefined {
  const index = new PersonIndex(state, now);
  const upserts = Array.from(
    state.relationships.values(),
    (each) => each.upsert,
  )
    .filter(({ display, subject }) =>
      namesOf(index, subject, display?.label).includes(appearance(name))
    );
  if (upserts.some(({ subject }) => index.hasAccess(subject))) return undefined;
  const byPerson = new Map(
    upserts.map((upsert) => [index.personOf(upsert.subject), upsert]),
  );
  for (const { relationship_type, subject } of byPerson.values()) {
    const ended = index.readmission(subject, relationship_type);
    if (ended !== undefined) return { ...ended, subject };
  }
  return undefined;
}
