/**
 * Compares a desired list with a feed and plans the changes. All rows are
 * checked before any is refused.
 *
 * @module
 */

import {
  compareInstants,
  instantOf,
  isSigError,
  type Issue,
  parseTimestamp,
  type ReasonCode,
  SigError,
} from "@sig/core";
import { quote, validityAt } from "@sig/core/internal";
import { sameJson } from "../append/draft.ts";
import { People } from "../people/people.ts";
import { MAX_FAULTS } from "../people/people_file.ts";
import {
  expandRows,
  findMovedKeys,
  joinPeople,
  type KeyRow,
  keysIn,
  Links,
  type RowFault,
  type WaitingRow,
} from "./list_rows.ts";
import {
  changedMembers,
  desiredMembers,
  type DesiredRelationship,
  plannedFields,
  type PlannedMembers,
  publishedMembers,
} from "./members.ts";
import {
  type Gap,
  PeopleHistory,
  type StartOptions,
} from "./people_history.ts";
import {
  type EndedRelationship,
  keyOf,
  personIn,
  type PublishedRelationship,
  type PublishedState,
} from "./published.ts";

/**
 * A member that differs. `type` means that the relationship is revoked as
 * superseded and a new one of the other type is created.
 */
export type PlannedField = keyof PlannedMembers | "type";

/** Returns whether a change replaces a relationship by another type. */
export function isMove({ fields }: Pick<PlannedChange, "fields">): boolean {
  return fields.includes("type");
}

/** Returns the fields of a change that {@linkcode isMove}. */
export function movedFields(
  before: PlannedMembers,
  after: PlannedMembers,
): readonly PlannedField[] {
  return plannedFields(before, after).map((name) =>
    name === "relationship_type" ? "type" : name
  );
}

/** One change of a plan. */
export interface PlannedChange {
  /** The kind of change. */
  readonly action: "create" | "update" | "reactivate" | "revoke";
  /** Identifier; null for a new relationship without one yet. */
  readonly relationship_id: string | null;
  /** DID of the subject. */
  readonly subject: string;
  /** The published members; null for a new relationship. */
  readonly before: PlannedMembers | null;
  /** The members after the change; null for a revocation. */
  readonly after: PlannedMembers | null;
  /** Differing members: all that are set if new, none if revoked. */
  readonly fields: readonly PlannedField[];
  /** The row that requests the change; null if there is no such row. */
  readonly row: number | null;
  /** The revocation that the change undoes. */
  readonly readmits?: EndedRelationship;
  /**
   * The wanted start, which the time of the append replaces: the relationship
   * begins again, or is of a further key.
   */
  readonly listed_from?: string | null;
  /** The time without access that `retroactive` fills. */
  readonly fills_gap?: Gap;
  /**
   * The reason code of a revocation that the list itself implies: the key is
   * not one of the person's keys in the list.
   */
  readonly reason_code?: "superseded";
}

/** The changes to a feed that make it agree with a list. */
export interface Plan {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The feed that was compared; the plan is valid for this feed only. */
  readonly based_on: {
    /** Sequence of its last event. */
    readonly last_sequence: number;
    /** SHA-256 of its bytes, hexadecimal. */
    readonly feed_sha256: string;
  };
  /** In the order of the rows, followed by revocations by identifier. */
  readonly changes: readonly PlannedChange[];
  /** Number of rows that need no change; equal rows count once. */
  readonly unchanged: number;
  /** Number of active relationships without a row that are left unchanged. */
  readonly unmanaged: number;
  /** Unchanged relationships that have expired; absent if there are none. */
  readonly expired?: readonly ExpiredRelationship[];
  /** The reason code for the revocations of people who are not in the list. */
  readonly reason_code?: ReasonCode | undefined;
  /** Rows whose person has no key yet. */
  readonly waiting: readonly WaitingRow[];
  /** People who keep an effective relationship and are not in the list. */
  readonly unlisted: readonly UnlistedPerson[];
}

/** A person who is not in the list and keeps access. */
export interface UnlistedPerson {
  /** The organisation's own id; null if unknown. */
  readonly person: string | null;
  /** The display name; null if unknown. */
  readonly name: string | null;
  /** The person's oldest key with access. */
  readonly subject: string;
  /** The roles of the effective relationships, sorted. */
  readonly roles: readonly string[];
}

/** An unchanged relationship that has expired, so every check denies it. */
export interface ExpiredRelationship {
  /** Identifier of the relationship. */
  readonly relationship_id: string;
  /** DID of the subject. */
  readonly subject: string;
  /** When it expired. */
  readonly valid_until: string;
  /** The row that requests it; null if the list has no rows. */
  readonly row: number | null;
}

/** Options of {@linkcode planChanges}. */
export interface PlanOptions {
  /** The types that the list manages (default: all). */
  readonly types?: readonly string[] | undefined;
  /** Revoke managed active relationships without a row (default: false). */
  readonly prune?: boolean | undefined;
  /**
   * The current time: when relationships are effective, and when those that
   * begin again begin (default: validity does not count, and starts are kept).
   */
  readonly now?: Date | undefined;
  /**
   * Keep a start before the end of the last relationship, for a revocation that
   * was wrong (default: false).
   */
  readonly retroactive?: boolean | undefined;
}

interface Resolved {
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

/**
 * Compares a desired list with a feed and returns the changes that make the
 * feed agree. Writes nothing and guesses nothing: rows that contradict each
 * other or are ambiguous are refused, all in one error.
 *
 * @example Add a role and keep the end of the contract
 * ```ts
 * import { planChanges } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * const { changes } = planChanges({
 *   issuer: "did:web:acme.example",
 *   last_sequence: 0,
 *   feed_sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
 *   relationships: new Map(),
 * }, [
 *   { subject: "did:web:alice.example", type: "employee", roles: ["deploy"] },
 * ]);
 * assertEquals(changes[0]?.action, "create");
 * assertEquals(changes[0]?.after?.roles, ["deploy"]);
 * ```
 *
 * @throws {SigError} `invalid_field` (a row outside `types`, another subject of
 * a relationship, a validity that ends before it begins, rows that contradict
 * each other), `ambiguous_relationship`; if there are several faults,
 * `context.errors` contains all of them as `{row, code, detail}`.
 */
export function planChanges(
  state: PublishedState,
  desired: Iterable<DesiredRelationship>,
  options: PlanOptions = {},
): Plan {
  const { types, prune = false, now } = options;
  const list = [...desired];
  const faults = [...findMovedKeys(state, list)];
  const joined = withPersons(joinPeople(state, keysIn(list)));
  const active = new ActiveRelationships(joined);
  const history = new PeopleHistory(joined, now);
  const build = new ChangeBuilder(joined, history, options);
  const { faults: ofPersons, rows: expanded, waiting } = expandRows(
    joined,
    list,
    history,
  );
  faults.push(...ofPersons);
  const rows = expanded.map((row) => active.withActiveKey(row, history));
  /** Rows by relationship, or by subject and type for a new relationship. */
  const resolved = new Map<string, Resolved>();
  /** Collects faults, so that all rows are checked before any is refused. */
  const collectFault = (
    { row = null }: DesiredRelationship,
    work: () => void,
  ) => {
    try {
      work();
    } catch (error) {
      if (!isSigError(error)) throw error;
      faults.push({ row, error });
    }
  };
  const named = new Map(
    rows.flatMap((row) => {
      const { relationship_id: id } = row;
      if (id === undefined) return [];
      const { subject } = state.relationships.get(id)?.upsert ?? row;
      return [[id, { ...row, subject }]];
    }),
  );
  const ownRows = new Set(
    rows.flatMap(({ ofPerson, subject, type }) =>
      ofPerson ? [keyOf(subject, type)] : []
    ),
  );
  for (const row of rows) {
    collectFault(row, () => {
      requireInScope(row, types);
      const found = findPublished(joined, active, history, row, {
        named,
        ownRows,
      });
      const { published } = found;
      if (published?.status === "active") {
        requireInScope(row, types, published.upsert.relationship_type);
      }
      // A row with an id is about the key of the relationship.
      const subject = row.relationship_id === undefined
        ? row.subject
        : published?.upsert.subject ?? row.subject;
      addOnce(resolved, { desired: { ...row, subject }, ...found });
    });
  }
  const changes: PlannedChange[] = [];
  const expired: ExpiredRelationship[] = [];
  let unchanged = 0;
  const groups = Map.groupBy(
    resolved.values(),
    ({ desired: { subject, type } }) => active.keyOf(subject, type),
  );
  const listed = keysOfPeople(rows, joined);
  const moved = findMoved([...resolved.values()], active, types, listed);
  const managed = new Map(
    resolved.values().filter(({ published }) => published)
      .map((each) => [each.published!, each]),
  );
  for (const row of resolved.values()) {
    collectFault(row.desired, () => {
      const { subject, type } = row.desired;
      const group = groups.get(active.keyOf(subject, type)) ?? [row];
      requireOnlyOne(row, group);
      const all = moved.get(row) ??
        [...active.forKeys(row, history), ...otherKeysOf(row, managed)];
      for (const each of all) {
        const change = build.changeOf(each);
        if (each.published !== undefined) managed.set(each.published, each);
        if (change === undefined) {
          unchanged++;
          expired.push(...expiredOf(each, now));
        } else changes.push(change);
      }
      if (group[0] !== row) return;
      for (const each of active.of(subject, type)) {
        const keys = listed.get(personIn(joined, subject));
        const isListed = keys?.has(each.upsert.subject) ?? true;
        if (managed.has(each) || isListed) continue;
        managed.set(each, row);
        changes.push(replacedKey(each, row.desired));
      }
    });
  }
  throwFaults(faults);
  const rest = active.all.filter((each) => !managed.has(each));
  const ending = prune
    ? rest.filter(({ upsert }) => isInScope(upsert.relationship_type, types))
    : [];
  const people = new Set(
    list.map(({ person, subject }) =>
      person === undefined
        ? personIn(joined, subject ?? "")
        : joined.people.keyOfPerson(person)
    ),
  );
  return {
    issuer: state.issuer,
    based_on: {
      last_sequence: state.last_sequence,
      feed_sha256: state.feed_sha256,
    },
    changes: [...changes, ...ending.sort(byIdentifier).map(revocationOf)],
    unchanged,
    unmanaged: rest.length - ending.length,
    ...(expired.length === 0 ? {} : { expired }),
    waiting,
    unlisted: prune ? [] : findUnlisted(joined, rest, people, options),
  };
}

function withPersons(
  state: PublishedState,
): PublishedState & { readonly people: People } {
  return { ...state, people: state.people ?? new People([], state.personOf) };
}

/**
 * Returns the keys that a list has for each person whose keys it names: other
 * keys of the person end.
 */
function keysOfPeople(
  rows: readonly KeyRow[],
  state: PublishedState,
): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = new Map<string, Set<string>>();
  for (const { ofPerson, subject } of rows) {
    if (!ofPerson) continue;
    const person = personIn(state, subject);
    keys.set(person, (keys.get(person) ?? new Set()).add(subject));
  }
  return keys;
}

/** Returns the people with access of these relationships who are not listed. */
function findUnlisted(
  state: PublishedState & { readonly people: People },
  rest: readonly PublishedRelationship[],
  listed: ReadonlySet<string>,
  { now, types }: PlanOptions,
): readonly UnlistedPerson[] {
  const instant = now && instantOf(now);
  const found = rest.filter(({ upsert }) =>
    isInScope(upsert.relationship_type, types) &&
    !listed.has(personIn(state, upsert.subject)) &&
    (!instant || validityAt(upsert, instant) === "active")
  );
  const byPerson = Map.groupBy(
    found,
    ({ upsert }) => personIn(state, upsert.subject),
  );
  return Array.from(byPerson.values(), (all) => {
    const { subject } = all[0]!.upsert;
    const { name, person } = state.people.named(subject);
    const roles = new Set(all.flatMap(({ upsert }) => upsert.roles));
    return { person, name, subject, roles: [...roles].sort() };
  });
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
function otherKeysOf(
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
function findMoved(
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

/** The active relationships, indexed by person and by type. */
class ActiveRelationships {
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

function isInScope(type: string, types: readonly string[] | undefined) {
  return types === undefined || types.includes(type);
}

/** Refuses a row whose new or published type is outside `types`. */
function requireInScope(
  row: DesiredRelationship,
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
interface OtherRows {
  /** The rows with a `relationship_id`. */
  readonly named: ReadonlyMap<string, KeyRow>;
  /** The keys and types of rows that name the person. */
  readonly ownRows: ReadonlySet<string>;
}

/** Finds the relationships that a row is about. */
function findPublished(
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
 * A row without identifier means the only relationship of its subject and type:
 * the next plan could not tell it from a second one.
 */
function requireOnlyOne(
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
  const place = first.desired.row ?? null;
  throw invalid(
    changed[0] ?? "subject",
    `it is about another key of the same person as ${
      place === null ? "another row" : `row ${place}`
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
function addOnce(resolved: Map<string, Resolved>, each: Resolved): void {
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
  const place = other.desired.row ?? null;
  throw invalid(
    changed[0] === "relationship_type" ? "type" : changed[0] ?? "subject",
    `it is about the same relationship as ${
      place === null ? "another row" : `row ${place}`
    }, and says otherwise${
      changed.length === 0 ? "" : ` (${changed.join(", ")})`
    }`,
  );
}

function membersOf(
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

/** Makes the changes of rows. */
class ChangeBuilder {
  readonly #state: PublishedState;
  readonly #history: PeopleHistory;
  readonly #links: Links;
  readonly #options: StartOptions;

  constructor(
    state: PublishedState,
    history: PeopleHistory,
    options: StartOptions,
  ) {
    this.#state = state;
    this.#history = history;
    this.#links = new Links(state, history);
    this.#options = options;
  }

  /** Returns the change of a row, or undefined if the feed already agrees. */
  changeOf(
    { desired, isMove, isReplaced, published }: Resolved,
  ): PlannedChange | undefined {
    if (isReplaced) return replacedKey(published!, desired);
    const before = published === undefined
      ? null
      : publishedMembers(published.upsert);
    const isActive = published?.status === "active";
    const subject = published?.upsert.subject ?? desired.subject;
    const wanted = this.#linked(membersOf({ desired, published }), subject);
    requireValidity(wanted);
    const relationship_id = published?.upsert.relationship_id ??
      desired.relationship_id ?? null;
    const change = {
      action: before === null ? "create" : isActive ? "update" : "reactivate",
      relationship_id,
      subject,
      before,
      after: wanted,
      fields: [],
      row: desired.row ?? null,
    } as const;
    const moved = isMove ? undefined : published;
    const begun = withStart(change, moved, this.#history, this.#options);
    const { after } = begun;
    if (after.valid_from !== wanted.valid_from) requireValidity(after);
    const fields = isMove && before !== null
      ? movedFields(before, after)
      : plannedFields(before, after);
    if (isActive && fields.length === 0) return undefined;
    return withReadmission({ ...begun, fields }, this.#history);
  }

  /** Links a key that is new in the feed to its person. */
  #linked(members: PlannedMembers, subject: string): PlannedMembers {
    const root = this.#links.linkOf(subject);
    if (root === undefined) return members;
    if (this.#state.canLink?.(subject, root) === false) {
      throw invalid(
        "subject",
        `the key ${quote(subject)} can't be linked to ${
          quote(root)
        }: the feed has it as another person`,
      );
    }
    const metadata = { ...members.metadata, same_person_as: root };
    return { ...members, metadata };
  }
}

/** A change that makes a relationship active or keeps it active. */
type Admitting = PlannedChange & { readonly after: PlannedMembers };

/** Replaces the start of a change, if it begins when it is appended. */
export function withStart(
  change: Admitting,
  published: PublishedRelationship | undefined,
  history: PeopleHistory,
  options: StartOptions,
): Admitting {
  const { after, subject } = change;
  const type = after.relationship_type;
  // A change of type begins a new relationship.
  const relationship_id = published?.upsert.relationship_id;
  const start = history.startOf(
    { subject, type, relationship_id },
    after.valid_from,
    published,
    options,
  );
  const { gap, replaces, valid_from } = start;
  return {
    ...change,
    after: { ...after, valid_from },
    ...(replaces === undefined ? {} : { listed_from: replaces }),
    ...(gap === undefined ? {} : { fills_gap: gap }),
  };
}

/** Returns the change that ends a key which the list does not have. */
function replacedKey(
  published: PublishedRelationship,
  { row = null }: KeyRow,
): PlannedChange {
  return { ...revocationOf(published), row, reason_code: "superseded" };
}

function expiredOf(
  { desired, published }: Resolved,
  now: Date | undefined,
): readonly ExpiredRelationship[] {
  const upsert = published?.upsert;
  if (now === undefined || !upsert?.valid_until) return [];
  if (validityAt(upsert, instantOf(now)) !== "expired") return [];
  const { relationship_id, subject, valid_until } = upsert;
  const row = desired.row ?? null;
  return [{ relationship_id, subject, valid_until, row }];
}

/** Adds the earlier revocation to a change that re-admits a person. */
export function withReadmission(
  change: PlannedChange,
  history: PeopleHistory,
): PlannedChange {
  const { after, relationship_id, subject } = change;
  if (after === null) return change;
  const type = after.relationship_type;
  const readmits = history.readmission({ subject, type, relationship_id });
  return readmits === undefined ? change : { ...change, readmits };
}

function requireValidity({ valid_from, valid_until }: PlannedMembers): void {
  const from = parseTimestamp(valid_from);
  const until = parseTimestamp(valid_until);
  if (!from || !until || compareInstants(until, from) > 0) return;
  throw invalid("valid_until", "valid_until must be after valid_from");
}

/** Returns the change that revokes a relationship. */
export function revocationOf({ upsert }: PublishedRelationship): PlannedChange {
  return {
    action: "revoke",
    relationship_id: upsert.relationship_id,
    subject: upsert.subject,
    before: publishedMembers(upsert),
    after: null,
    fields: [],
    row: null,
  };
}

function byIdentifier(a: PublishedRelationship, b: PublishedRelationship) {
  return a.upsert.relationship_id < b.upsert.relationship_id ? -1 : 1;
}

function invalid(column: string, why: string): SigError {
  return new SigError("invalid_field", `Cannot plan: ${why}`, {
    context: { column },
  });
}

function ambiguous(
  why: string,
  hint: string,
  ids?: string[],
  action = "plan",
): SigError {
  return new SigError("ambiguous_relationship", `Cannot ${action}: ${why}`, {
    context: {
      column: "relationship_id",
      ...(ids && { relationship_ids: ids.slice(0, 20) }),
      hint,
    },
  });
}

/** Both ways on where a relationship is named and another key has several. */
export function severalOfOtherKey(
  action: string,
  id: string,
  others: readonly PublishedRelationship[],
): SigError {
  const ids = others.map(({ upsert }) => upsert.relationship_id);
  return ambiguous(
    `${quote(id)} is one relationship of a person whose key ${
      quote(others[0]!.upsert.subject)
    } has ${ids.length} of this type: ${ids.slice(0, 5).map(quote).join(", ")}`,
    `To change it alone, use sig upsert --relationship-id ${id}. To change the person, name all of these relationships in a list (column relationship_id).`,
    ids,
    action,
  );
}

/** A fault of a list, with its row and column. */
export interface RowIssue extends Issue {
  /** Row number as in a spreadsheet; null if the list has no rows. */
  readonly row: number | null;
  /** The column, or member. */
  readonly column: string;
}

function throwFaults(unsorted: readonly RowFault[]): void {
  const faults = unsorted.toSorted((a, b) => (a.row ?? 0) - (b.row ?? 0));
  const [first] = faults;
  if (first === undefined) return;
  const { row } = first;
  const { code, reason: why, context } = first.error;
  const reason = row === null ? why : `row ${row}: ${why}`;
  throw new SigError(code, { action: "plan", reason }, {
    context: {
      ...context,
      ...(row !== null && { row }),
      ...(faults.length > 1 && {
        errors: faults.slice(0, MAX_FAULTS).map(issueOf),
      }),
    },
  });
}

function issueOf(
  { row, error: { code, context, reason } }: RowFault,
): RowIssue {
  const { column: name } = context;
  const column = typeof name === "string" ? name : "subject";
  const pointer = `/${row ?? ""}/${column}`;
  return { pointer, row, column, code, detail: reason };
}
