/** Assigns the rows of a list to people and keys. @module */

import { quote } from "@sig/core/internal";
import type { PersonKey } from "../people/people_file.ts";
import type { DesiredRelationship } from "./members.ts";
import type { PersonIndex } from "./person_index.ts";
import { collectFault, invalid, type RowFault } from "./plan_faults.ts";
import type { PublishedState } from "./published.ts";

/** A row about one key. */
export interface KeyRow extends DesiredRelationship {
  /** The key; with a `relationship_id` of the feed, that relationship's. */
  readonly subject: string;
  /** Whether the row names the person, so that it means exactly this key. */
  readonly ofPerson: boolean;
}

/** A row whose person has no key yet. */
export interface WaitingRow {
  /** The organisation's own id of the person. */
  readonly person: string;
  /** The display name; null if unknown. */
  readonly name: string | null;
  /** The row; null if the list has no rows. */
  readonly row: number | null;
}

/** The keys that a list names for people, for the people file. */
export function keysIn(
  desired: readonly DesiredRelationship[],
): readonly PersonKey[] {
  return desired.flatMap(({ name, person, subject }) =>
    subject === undefined || !(person ?? name)
      ? []
      : [{ subject, person, name: name ?? undefined }]
  );
}

/**
 * Refuses keys that the list, the people file or the feed has under another
 * person: a list does not move keys between people.
 */
export function findMovedKeys(
  state: PublishedState,
  desired: readonly DesiredRelationship[],
): readonly RowFault[] {
  const { keys } = state.people;
  /** Where a key has which person: in the list, the people file, the feed. */
  type Place = readonly [person: string | undefined, place: string];
  const listed = new Map<string, Place>();
  /** The people of the keys with this root, by the people file. */
  const ofRoot = new Map<string, Place>();
  for (const { person, subject } of keys.values()) {
    const root = state.personOf(subject);
    if (person !== undefined && !ofRoot.has(root)) {
      ofRoot.set(root, [person, "same_person_as in the feed"]);
    }
  }
  return desired.flatMap(({ person, row = null, subject }) => {
    if (person === undefined || subject === undefined) return [];
    const own = keys.get(subject);
    const places: readonly (Place | undefined)[] = [
      listed.get(subject),
      own && [own.person, describeRow(own.row, "the people file")],
      own?.person ? undefined : ofRoot.get(state.personOf(subject)),
    ];
    if (!listed.has(subject)) {
      listed.set(subject, [person, describeRow(row, "the list")]);
    }
    const [other, place] = places.find((each) =>
      each?.[0] !== undefined && each[0] !== person
    ) ?? [];
    if (other === undefined) return [];
    const error = invalid(
      "subject",
      `the key ${quote(subject)} is of person ${
        quote(other)
      } (${place}), not of ${
        quote(person)
      }; a list does not move keys between people`,
      "Correct the row, or the people file if it is wrong.",
    );
    return [{ row, error }];
  });
}

function describeRow(row: number | null | undefined, file: string): string {
  return row === null || row === undefined ? file : `row ${row} of ${file}`;
}

/**
 * Returns a row for each key that a list means. A row with a person and no
 * subject means all keys of the person; a key that was ended (a lost laptop)
 * only if no other one is left.
 *
 * @param index Of a state with the people of the list.
 * @param faults Receives the faults of rows.
 */
export function expandRows(
  index: PersonIndex,
  desired: readonly DesiredRelationship[],
  faults: RowFault[],
): {
  readonly rows: readonly KeyRow[];
  readonly waiting: readonly WaitingRow[];
} {
  const { people, state: { relationships } } = index;
  const rows: KeyRow[] = [];
  const waiting: WaitingRow[] = [];
  const holderOf = ({ relationship_id: id = "" }: DesiredRelationship) =>
    relationships.get(id)?.upsert.subject;
  /** Keys that the list names or makes active again. */
  const wanted = new Set(desired.map((row) => row.subject ?? holderOf(row)));
  /** The first key that the list has for a person and type. */
  const named = new Map<string, string>();
  const groupOf = ({ person = "", type }: DesiredRelationship) =>
    `${type} ${people.keyOfPerson(person)}`;
  for (const row of desired) {
    if (row.person === undefined || row.subject === undefined) continue;
    const group = groupOf(row);
    if (!named.has(group)) named.set(group, row.subject);
  }
  /** Returns the keys of a person, the oldest in the feed first. */
  const usableKeys = (person: string) => {
    const all = [
      ...new Set([...index.keysOf(person), ...people.listed(person)]),
    ];
    const left = all.filter((key) => wanted.has(key) || !index.isEndedKey(key));
    return left.length > 0 ? left : all;
  };
  const expand = (row: DesiredRelationship) => {
    const { person, subject } = row;
    const holder = holderOf(row);
    if (subject !== undefined) {
      const ofPerson = person !== undefined;
      requireHolder(index, { ...row, subject, ofPerson }, holder);
      const key = holder ??
        (ofPerson ? subject : activeKey(index, row, subject));
      rows.push({ ...row, subject: key, ofPerson });
      return;
    }
    if (person === undefined) {
      throw invalid("subject", "the row has neither a subject nor a person");
    }
    const key = people.keyOfPerson(person);
    if (holder !== undefined && people.keyOf(holder) !== key) {
      throw invalid(
        "person",
        `relationship ${quote(row.relationship_id!)} is about ${
          quote(holder)
        }, which is not a key of person ${quote(person)}`,
      );
    }
    const only = holder ?? named.get(groupOf(row));
    const keys = only === undefined ? usableKeys(key) : [only];
    if (keys.length === 0) {
      waiting.push({ person, name: row.name ?? null, row: row.row ?? null });
    }
    for (const key of keys) rows.push({ ...row, subject: key, ofPerson: true });
  };
  for (const row of desired) collectFault(faults, row, () => expand(row));
  return { rows, waiting };
}

/** Refuses a row that gives a relationship another subject. */
function requireHolder(
  index: PersonIndex,
  { ofPerson, relationship_id: id = "", subject }: KeyRow,
  holder: string | undefined,
): void {
  const isSame = holder === undefined ||
    (ofPerson
      ? holder === subject
      : index.personOf(holder) === index.personOf(subject));
  if (isSame) return;
  throw invalid(
    "subject",
    `relationship ${quote(id)} is about ${
      quote(holder)
    }, and keeps its subject`,
  );
}

/**
 * Returns the key for a new relationship with an id, which the person has now:
 * the key that the row names may be lost or stolen.
 */
function activeKey(
  index: PersonIndex,
  { relationship_id }: DesiredRelationship,
  subject: string,
): string {
  if (relationship_id === undefined || !index.isKnown(subject)) return subject;
  const keys = index.activeOf(subject).map(({ upsert }) => upsert.subject);
  return keys.includes(subject) ? subject : keys[0] ?? subject;
}
