/** Assigns the rows of a list to people and keys. @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { People } from "../people/people.ts";
import type { PersonKey } from "../people/people_file.ts";
import type { DesiredRelationship } from "./members.ts";
import type { PeopleHistory } from "./people_history.ts";
import { personIn, type PublishedState, rootIn } from "./published.ts";

/** A row about one key. */
export interface KeyRow extends DesiredRelationship {
  /** The key. */
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

/** Why a row is refused. */
export interface RowFault {
  /** Row number as in a spreadsheet; null if the list has no rows. */
  readonly row: number | null;
  /** The fault, with its column in the context. */
  readonly error: SigError;
}

/** The keys that a list names for people, for the people file. */
export function keysIn(
  desired: Iterable<DesiredRelationship>,
): readonly PersonKey[] {
  return Iterator.from(desired).flatMap(({ name, person, subject }) =>
    subject === undefined || !(person ?? name)
      ? []
      : [{ subject, person, name: name ?? undefined }]
  ).toArray();
}

/**
 * Joins the keys of a list and the links of drafts with the people of a state,
 * so that everything judges the same people.
 */
export function joinPeople(
  state: PublishedState,
  keys: Iterable<PersonKey>,
  links: ReadonlyMap<string, string> = new Map(),
): PublishedState {
  const { keys: known } = state.people ?? new People([]);
  const all = new Map(known);
  for (const key of keys) {
    const { name = key.name, username, row } = all.get(key.subject) ?? {};
    all.set(key.subject, {
      subject: key.subject,
      name,
      username,
      row,
      person: key.person ?? all.get(key.subject)?.person,
    });
  }
  const rootOf = (subject: string) => {
    const link = links.get(subject);
    return rootIn(state, link ?? subject);
  };
  return { ...state, people: new People(all.values(), rootOf) };
}

/**
 * Refuses keys that the list, the people file or the feed has under another
 * person: a list does not move keys between people.
 */
export function findMovedKeys(
  state: PublishedState,
  desired: readonly DesiredRelationship[],
): readonly RowFault[] {
  const { keys } = state.people ?? new People([]);
  /** The row of each key in the list. */
  const listed = new Map<string, DesiredRelationship>();
  /** The people of the keys with this root, by the people file. */
  const ofRoot = new Map<string, PersonKey>();
  for (const key of keys.values()) {
    const root = rootIn(state, key.subject);
    if (key.person !== undefined && !ofRoot.has(root)) ofRoot.set(root, key);
  }
  return desired.flatMap((each) => {
    const { person, row = null, subject } = each;
    if (person === undefined || subject === undefined) return [];
    const before = listed.get(subject);
    listed.set(subject, before ?? each);
    const own = keys.get(subject);
    const linked = own === undefined
      ? ofRoot.get(rootIn(state, subject))
      : undefined;
    const [other, place] = before !== undefined && before.person !== person
      ? [before.person, describeRow(before.row, "the list")] as const
      : own?.person !== undefined && own.person !== person
      ? [own.person, describeRow(own.row, "the people file")] as const
      : linked?.person !== undefined && linked.person !== person
      ? [linked.person, "same_person_as in the feed"] as const
      : [];
    if (other === undefined) return [];
    const why = `the key ${quote(subject)} is of person ${
      quote(other)
    } (${place}), not of ${
      quote(person)
    }; a list does not move keys between people`;
    const error = new SigError("invalid_field", {
      action: "plan",
      reason: why,
      context: {
        column: "subject",
        hint: "Correct the row, or the people file if it is wrong.",
      },
    });
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
 * @param state With the people of the list (see {@linkcode joinPeople}).
 */
export function expandRows(
  state: PublishedState & { readonly people: People },
  desired: readonly DesiredRelationship[],
  history: PeopleHistory,
): {
  readonly rows: readonly KeyRow[];
  readonly waiting: readonly WaitingRow[];
  readonly faults: readonly RowFault[];
} {
  const { people, relationships } = state;
  const waiting: WaitingRow[] = [];
  const faults: RowFault[] = [];
  const aboutOf = ({ relationship_id: id = "" }: DesiredRelationship) =>
    relationships.get(id)?.upsert.subject;
  /** Keys that the list names or makes active again. */
  const wanted = new Set(desired.map((row) => row.subject ?? aboutOf(row)));
  /** The first key that the list has for a person and type. */
  const named = new Map<string, string>();
  const groupOf = ({ person, type }: DesiredRelationship) =>
    `${type} ${people.keyOfPerson(person ?? "")}`;
  for (const row of desired) {
    if (row.person === undefined || row.subject === undefined) continue;
    const group = groupOf(row);
    if (!named.has(group)) named.set(group, row.subject);
  }
  const rows = desired.flatMap((row): readonly KeyRow[] => {
    const { person, subject } = row;
    if (subject !== undefined) {
      return [{ ...row, subject, ofPerson: person !== undefined }];
    }
    if (person === undefined) return [];
    const about = aboutOf(row);
    const key = people.keyOfPerson(person);
    if (about !== undefined && people.keyOf(about) !== key) {
      faults.push({ row: row.row ?? null, error: ofOther(row, about) });
      return [];
    }
    const only = about ?? named.get(groupOf(row));
    const keys = only === undefined
      ? usableKeys(
        key,
        people,
        (each) => wanted.has(each) || !history.isEndedKey(each),
        history,
      )
      : [only];
    if (keys.length === 0) {
      const name = row.name ?? null;
      waiting.push({ person, name, row: row.row ?? null });
    }
    return keys.map((key) => ({ ...row, subject: key, ofPerson: true }));
  });
  return { rows, waiting, faults };
}

function ofOther(
  { person = "", relationship_id = "" }: DesiredRelationship,
  about: string,
): SigError {
  return new SigError("invalid_field", {
    action: "plan",
    reason: `relationship ${quote(relationship_id)} is about ${
      quote(about)
    }, which is not a key of person ${quote(person)}`,
    context: { column: "person" },
  });
}

/** Returns the keys of a person, the oldest in the feed first. */
function usableKeys(
  person: string,
  people: People,
  isUsable: (key: string) => boolean,
  history: PeopleHistory,
): readonly string[] {
  const all = new Set([...history.keysOf(person), ...people.listed(person)]);
  const left = [...all].filter(isUsable);
  return left.length > 0 ? left : [...all];
}

/**
 * Returns the root that a new key of a known person names as `same_person_as`;
 * undefined for the first key of a person.
 */
export class Links {
  readonly #state: PublishedState;
  readonly #history: PeopleHistory;
  /** The roots of people whose first keys are new. */
  readonly #roots = new Map<string, string>();

  /** Takes a state with the people of the list. */
  constructor(state: PublishedState, history: PeopleHistory) {
    this.#state = state;
    this.#history = history;
  }

  /** Returns the root for the next relationship of a key. */
  linkOf(subject: string): string | undefined {
    if (this.#history.isKnown(subject)) return undefined;
    const person = personIn(this.#state, subject);
    const [oldest = this.#roots.get(person)] = this.#history.keysOf(person);
    if (oldest === undefined || oldest === subject) {
      this.#roots.set(person, subject);
      return undefined;
    }
    return rootIn(this.#state, oldest);
  }
}
