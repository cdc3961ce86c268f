/** Finds the published relationships that the rows of a list mean. @module */

import { quote } from "@sig/core/internal";
import { sameJson } from "../append/draft.ts";
import type { KeyRow } from "./list_rows.ts";
import {
  changedMembers,
  desiredMembers,
  type PlannedMembers,
  publishedMembers,
} from "./members.ts";
import type { PeopleHistory } from "./people_history.ts";
import { ambiguous, invalid, severalOfOtherKey } from "./plan_faults.ts";
import {
  keyOf,
  personIn,
  type PublishedRelationship,
  type PublishedState,
} from "./published.ts";

export interface Resolved {
  readonly desired: KeyRow;
  /** Undefined for a relationship that does not exist yet. */
  readonly published: PublishedRelationship | undefined;
  /** Those of the person's other keys, which change together with it. */
  readonly others?: readonly PublishedRelationship[];
  /** Whether the published one has another type and will be revoked. */
  readonly isMove?: boolean;
  /** Whether the published one is of a key that other keys replace. */
  readonly isReplaced?: boolean;
}

/** The active relationships, indexed by person and by type. */
export class ActiveRelationships {
  readonly all: readonly PublishedRelationship[];
  readonly byPerson: ReadonlyMap<string, readonly PublishedRelationship[]>;
  readonly #state: PublishedState;
  readonly #byKey: ReadonlyMap<string, readonly PublishedRelationship[]>;

  constructor(state: PublishedState) {
    this.#state = state;
    this.all = [...state.relationships.values()].filter(({ status }) =>
      status === "active"
    );
    this.byPerson = Map.groupBy(
      this.all,
      ({ upsert }) => this.personOf(upsert.subject),
    );
    this.#byKey = Map.groupBy(
      this.all,
      ({ upsert: { subject, relationship_type } }) =>
        this.keyOf(subject, relationship_type),
    );
  }

  personOf(subject: string): string {
    return personIn(this.#state, subject);
  }

  /**
   * Returns a row for a new relationship with an id, about a key that the
   * person has now: the key that the row names may be lost or stolen.
   */
  withActiveKey(row: KeyRow, history: PeopleHistory): KeyRow {
    const { ofPerson, relationship_id: id, subject } = row;
    const isNew = id !== undefined && !this.#state.relationships.has(id);
    if (!isNew || ofPerson || !history.isKnown(subject)) return row;
    const found = this.byPerson.get(this.personOf(subject)) ?? [];
    const hasKey = found.some(({ upsert }) => upsert.subject === subject);
    return {
      ...row,
      subject: hasKey ? subject : found[0]?.upsert.subject ?? subject,
    };
  }

  /** Returns a row for each of these keys, if the row names no id. */
  forKeys(row: Resolved, history: PeopleHistory): readonly Resolved[] {
    const { desired, published } = row;
    const { ofPerson, relationship_id, subject } = desired;
    const isNew = !history.isKnown(subject);
    if (published || ofPerson || relationship_id || isNew) return [row];
    const found = this.byPerson.get(this.personOf(subject)) ?? [];
    const keys = new Set(found.map(({ upsert }) => upsert.subject));
    if (keys.size === 0 || keys.has(subject)) return [row];
    return [...keys].map((subject) => ({
      desired: { ...desired, subject },
      published,
    }));
  }

  /** Returns an index key for the person of a subject, and a type. */
  keyOf(subject: string, type: string): string {
    return keyOf(this.personOf(subject), type);
  }

  /** Returns the relationships of this type of the subject's person. */
  of(subject: string, type: string): readonly PublishedRelationship[] {
    return this.#byKey.get(this.keyOf(subject, type)) ?? [];
  }
}

export function isInScope(type: string, types: readonly string[] | undefined) {
  return types === undefined || types.includes(type);
}

/** Refuses a row whose new or published type is outside `types`. */
export function requireInScope(
  row: KeyRow,
  types: readonly string[] | undefined,
  type: string = row.type,
): void {
  if (isInScope(type, types)) return;
  throw invalid(
    "type",
    `type ${quote(type)} is outside of what this list manages (${
      types?.join(", ")
    })`,
  );
}

/** What other rows of the list are about. */
export interface OtherRows {
  /** The rows with a `relationship_id`. */
  readonly named: ReadonlyMap<string, KeyRow>;
  /** The keys and types of rows that name the person. */
  readonly ownRows: ReadonlySet<string>;
}

/** Finds the relationships that a row is about. */
export function findPublished(
  { relationships }: PublishedState,
  active: ActiveRelationships,
  history: PeopleHistory,
  row: KeyRow,
  rows: OtherRows,
): Pick<Resolved, "published" | "others"> {
  const { ofPerson, relationship_id: id, subject, type } = row;
  if (id !== undefined) {
    const published = relationships.get(id);
    const { upsert } = published ?? {};
    const isSame = upsert === undefined ||
      (ofPerson
        ? upsert.subject === subject
        : active.personOf(upsert.subject) === active.personOf(subject));
    if (upsert !== undefined && !isSame) {
      throw invalid(
        "subject",
        `relationship ${quote(id)} is about ${
          quote(upsert.subject)
        }, and keeps its subject`,
      );
    }
    return {
      published,
      others: othersThanNamed(active, row, published, rows),
    };
  }
  const candidates = active.of(subject, type)
    .filter(({ upsert }) => !ofPerson || upsert.subject === subject);
  const bySubject = Map.groupBy(candidates, ({ upsert }) => upsert.subject);
  const several = bySubject.values().find(({ length }) => length > 1);
  if (several === undefined) {
    const own = candidates.find(({ upsert }) => upsert.subject === subject);
    const first = history.isKnown(subject) ? candidates[0] : undefined;
    const published = own ?? first;
    return {
      published,
      others: candidates.filter((each) => each !== published),
    };
  }
  const ids = several.map(({ upsert }) => upsert.relationship_id);
  const holder = quote(several[0]!.upsert.subject);
  const some = ids.slice(0, 5).map(quote).join(", ");
  throw ambiguous(
    `${holder} has ${several.length} active relationships of type ${type}: ${some}`,
    "Name the one that is meant by relationship_id.",
    ids,
  );
}

/**
 * Returns the relationships of other keys that change together with a named
 * one: each other key has at most one of the type, so it is the same access.
 */
function othersThanNamed(
  active: ActiveRelationships,
  { relationship_id: id, subject, type }: KeyRow,
  published: PublishedRelationship | undefined,
  { named, ownRows }: OtherRows,
): readonly PublishedRelationship[] {
  const holder = published?.upsert.subject ?? subject;
  const types = new Set([type]);
  if (published?.status === "active") {
    types.add(published.upsert.relationship_type);
  }
  const others = [...types].flatMap((each) => active.of(subject, each))
    .filter(({ upsert }) =>
      upsert.subject !== holder && !ownRows.has(keyOf(upsert.subject, type))
    );
  const isNamed = ({ upsert }: PublishedRelationship) =>
    named.has(upsert.relationship_id);
  const byKey = Map.groupBy(others, ({ upsert }) => upsert.subject);
  for (const [key, of] of byKey) {
    // A list may also add a second one.
    const isSecond = named.values().some((row) =>
      row.subject === key && types.has(row.type) &&
      !of.some(({ upsert }) => upsert.relationship_id === row.relationship_id)
    );
    if (of.length < 2 && !isSecond || of.every(isNamed)) continue;
    throw severalOfOtherKey("plan", id ?? "", of);
  }
  return others.filter((each) => !isNamed(each));
}

/**
 * Returns what a row changes for another key of its person. Titles and metadata
 * belong to one relationship.
 */
function shareWith(
  published: PublishedRelationship,
  { row, type, roles, valid_from, valid_until }: KeyRow,
): Resolved {
  const { subject } = published.upsert;
  const shared = { type, row, roles, valid_from, valid_until };
  return { desired: { ...shared, subject, ofPerson: false }, published };
}

/** Returns the rows of the person's other keys, except listed ones. */
export function otherKeysOf(
  { desired, others = [] }: Resolved,
  managed: ReadonlyMap<PublishedRelationship, Resolved>,
): readonly Resolved[] {
  return others.flatMap((published) => {
    const each = shareWith(published, desired);
    const known = managed.get(published);
    if (known === undefined) return [each];
    const { relationship_id, subject } = published.upsert;
    const isSame = changedMembers(membersOf(known), membersOf(each)).length ===
      0;
    if (known.others !== undefined || isSame) return [];
    throw ambiguous(
      `several rows are about the person of ${
        quote(subject)
      } and differ, so that ${quote(relationship_id)} could become either`,
      "Name this relationship in a row of its own, too.",
      [relationship_id],
    );
  });
}

/**
 * Finds people whose keys have one active relationship each, all of another
 * type than their rows, which therefore replace them.
 */
export function findMoved(
  all: readonly Resolved[],
  active: ActiveRelationships,
  types: readonly string[] | undefined,
  listed: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<Resolved, readonly Resolved[]> {
  const byPerson = Map.groupBy(
    all,
    ({ desired }) => active.personOf(desired.subject),
  );
  const moved = new Map<Resolved, readonly Resolved[]>();
  for (const [person, rows] of byPerson) {
    const old = active.byPerson.get(person) ?? [];
    const isNew = rows.every(({ desired, published }) =>
      published === undefined && desired.relationship_id === undefined
    );
    const [type, ...others] = new Set(
      old.map(({ upsert }) => upsert.relationship_type),
    );
    const wanted = new Set(rows.map(({ desired }) => desired.type));
    const keys = new Set(old.map(({ upsert }) => upsert.subject));
    if (
      type === undefined || !isNew || keys.size < old.length ||
      wanted.size > 1 || others.length > 0 || !isInScope(type, types)
    ) continue;
    const kept = listed.get(person);
    const first = rows[0]!;
    const targets = new Map(rows.map((row) => [row, [row]]));
    const hasOwn = rows.some(({ desired }) => keys.has(desired.subject));
    for (const [at, published] of old.entries()) {
      const { subject } = published.upsert;
      const own = rows.find(({ desired }) => desired.subject === subject);
      const isFirst = !hasOwn && kept === undefined && at === 0;
      if (own !== undefined || isFirst) {
        const row = own ?? first;
        const { desired } = row;
        targets.get(row)![0] = { desired, published, isMove: true };
      } else if (kept?.has(subject) ?? true) {
        const shared = shareWith(published, first.desired);
        targets.get(first)!.push({ ...shared, isMove: true });
      } else {
        const { desired } = first;
        targets.get(first)!.push({ desired, published, isReplaced: true });
      }
    }
    for (const [row, all] of targets) moved.set(row, all);
  }
  return moved;
}

/**
 * A row without identifier means the only relationship of its subject and type:
 * the next plan could not tell it from a second one.
 */
export function requireOnlyOne(
  { desired, published }: Resolved,
  group: readonly Resolved[],
): void {
  const { ofPerson, relationship_id, subject, type } = desired;
  if (relationship_id !== undefined) return;
  const others = group.filter((each) => each.desired !== desired);
  const isSecond = others.some((each) =>
    each.desired.subject === subject ||
    !ofPerson && each.desired.relationship_id !== undefined
  );
  if (isSecond) {
    throw ambiguous(
      `another row gives ${
        quote(subject)
      } a second relationship of type ${type}`,
      "Name the relationship in each of these rows, or leave one out.",
    );
  }
  // The first row of the group is compared with all later ones.
  const [first] = group;
  if (first === undefined || first.desired === desired) return;
  const compared = (row: KeyRow) => ofPerson ? row : shared(row);
  const [a, b] = [first.desired, desired].map(compared) as [KeyRow, KeyRow];
  const changed = changedMembers(
    membersOf({ desired: a, published }),
    membersOf({ desired: b, published }),
  );
  if (changed.length === 0 && sameNames(a, b)) return;
  throw invalid(
    changed[0] ?? "subject",
    `it is about another key of the same person as ${
      describeRow(first)
    }, and says otherwise (${changed.join(", ") || "other columns"})`,
  );
}

/** Returns the members that all keys of a person share. */
function shared(
  { ofPerson, roles, row, subject, type, valid_from, valid_until }: KeyRow,
): KeyRow {
  return { ofPerson, roles, row, subject, type, valid_from, valid_until };
}

/** Adds a row once; refuses different rows for one relationship. */
export function addOnce(resolved: Map<string, Resolved>, each: Resolved): void {
  const { desired, published } = each;
  const id = published?.upsert.relationship_id ?? desired.relationship_id;
  const key = id === undefined
    ? `new ${keyOf(desired.subject, desired.type)}`
    : `id ${id}`;
  const other = resolved.get(key);
  if (other === undefined) {
    resolved.set(key, each);
    return;
  }
  const changed = changedMembers(membersOf(other), membersOf(each));
  const isSame = other.desired.subject === desired.subject &&
    changed.length === 0 && sameNames(other.desired, desired);
  if (isSame) {
    if (desired.relationship_id !== undefined) return;
    // Keep the row without identifier, so that `requireOnlyOne` checks it.
    const { row } = other.desired;
    resolved.set(key, { ...each, desired: { ...desired, row } });
    return;
  }
  throw invalid(
    changed[0] === "relationship_type" ? "type" : changed[0] ?? "subject",
    `it is about the same relationship as ${
      describeRow(other)
    }, and says otherwise${
      changed.length === 0 ? "" : ` (${changed.join(", ")})`
    }`,
  );
}

function describeRow({ desired: { row = null } }: Resolved): string {
  return row === null ? "another row" : `row ${row}`;
}

export function membersOf(
  { desired, published }: Pick<Resolved, "desired" | "published">,
): PlannedMembers {
  return desiredMembers(
    desired,
    published && publishedMembers(published.upsert),
  );
}

/** Members of a row that are not of the relationship. */
const NOT_COMPARED = ["name", "ofPerson", "person", "relationship_id", "row"];

function sameNames(a: KeyRow, b: KeyRow): boolean {
  const given = (row: KeyRow) =>
    Object.entries(row)
      .filter(([name, value]) =>
        !NOT_COMPARED.includes(name) && value !== undefined
      )
      .map(([name]) => name).sort();
  return sameJson(given(a), given(b));
}
