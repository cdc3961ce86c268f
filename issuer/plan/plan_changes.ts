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
  SigError,
} from "@sig/core";
import { quote, validityAt } from "@sig/core/internal";
import { sameJson } from "../append/draft.ts";
import {
  changedMembers,
  desiredMembers,
  type DesiredRelationship,
  plannedFields,
  type PlannedMembers,
  publishedMembers,
} from "./members.ts";
import {
  type EndedRelationship,
  endingsIn,
  type FindEnding,
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
  /** The current time, to report expired relationships (default: none). */
  readonly now?: Date | undefined;
}

interface Resolved {
  readonly desired: DesiredRelationship;
  /** Undefined for a relationship that does not exist yet. */
  readonly published: PublishedRelationship | undefined;
  /** Those of the person's other keys, which change together with it. */
  readonly others?: readonly PublishedRelationship[];
  /** Whether the published one has another type and will be revoked. */
  readonly isMove?: boolean;
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
  { types, prune = false, now }: PlanOptions = {},
): Plan {
  const active = new ActiveRelationships(state);
  const faults: RowFault[] = [];
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
  for (const row of desired) {
    collectFault(row, () => {
      requireInScope(row, types);
      const found = findPublished(state, active, row);
      const { published } = found;
      if (published?.status === "active") {
        requireInScope(row, types, published.upsert.relationship_type);
      }
      addOnce(resolved, { desired: row, ...found });
    });
  }
  const changes: PlannedChange[] = [];
  const expired: ExpiredRelationship[] = [];
  let unchanged = 0;
  const rows = Map.groupBy(
    resolved.values(),
    ({ desired: { subject, type } }) => active.keyOf(subject, type),
  );
  const ended = endingsIn(state);
  const moved = findMoved([...resolved.values()], active, types);
  const managed = new Map(
    resolved.values().filter(({ published }) => published)
      .map((each) => [each.published!, each]),
  );
  for (const row of resolved.values()) {
    collectFault(row.desired, () => {
      const { subject, type } = row.desired;
      requireOnlyOne(row, rows.get(active.keyOf(subject, type)));
      const all = moved.get(row) ??
        [...active.forKeys(row), ...otherKeysOf(row, managed)];
      for (const each of all) {
        const change = changeOf(each);
        if (each.published !== undefined) managed.set(each.published, each);
        if (change === undefined) {
          unchanged++;
          expired.push(...expiredOf(each, now));
        } else changes.push(withReadmission(change, ended));
      }
    });
  }
  throwFaults(faults);
  const rest = active.all.filter((each) => !managed.has(each));
  const ending = prune
    ? rest.filter(({ upsert }) => isInScope(upsert.relationship_type, types))
    : [];
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
  };
}

/**
 * Returns what a row changes for another key of its person. Titles and metadata
 * belong to one relationship.
 */
function shareWith(
  published: PublishedRelationship,
  { row, type, roles, valid_from, valid_until }: DesiredRelationship,
): Resolved {
  const { subject } = published.upsert;
  const desired = { subject, type, row, roles, valid_from, valid_until };
  return { desired, published };
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
 * type. The row is the only one of its person, so it replaces them.
 */
function findMoved(
  all: readonly Resolved[],
  active: ActiveRelationships,
  types: readonly string[] | undefined,
): ReadonlyMap<Resolved, readonly Resolved[]> {
  const rows = Map.groupBy(
    all,
    ({ desired }) => active.personOf(desired.subject),
  );
  const moved = new Map<Resolved, readonly Resolved[]>();
  for (const [person, [row, ...more]] of rows) {
    const old = active.byPerson.get(person) ?? [];
    const { desired, published } = row!;
    const isNew = published === undefined &&
      desired.relationship_id === undefined;
    const [type, ...others] = new Set(
      old.map(({ upsert }) => upsert.relationship_type),
    );
    const keys = new Set(old.map(({ upsert }) => upsert.subject));
    if (
      type === undefined || !isNew || keys.size < old.length ||
      more.length + others.length > 0
    ) continue;
    if (!isInScope(type, types)) continue;
    moved.set(
      row!,
      old.map((published, at) => ({
        ...at === 0 ? { desired, published } : shareWith(published, desired),
        isMove: true,
      })),
    );
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
   * A new relationship is created for the keys that the person has now: the key
   * that the row names may be lost or stolen.
   */
  forKeys(row: Resolved): readonly Resolved[] {
    const { desired, published } = row;
    if (published !== undefined) return [row];
    const person = this.personOf(desired.subject);
    const found = this.byPerson.get(person) ?? [];
    const keys = new Set(found.map(({ upsert }) => upsert.subject));
    if (keys.size === 0 || keys.has(desired.subject)) return [row];
    const all = [...keys].map((subject) => ({
      desired: { ...desired, subject },
      published,
    }));
    return desired.relationship_id === undefined ? all : all.slice(0, 1);
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

function findPublished(
  { relationships }: PublishedState,
  active: ActiveRelationships,
  { subject, type, relationship_id: id }: DesiredRelationship,
): Pick<Resolved, "published" | "others"> {
  if (id !== undefined) {
    const published = relationships.get(id);
    const { upsert, status } = published ?? {};
    if (
      upsert && active.personOf(upsert.subject) !== active.personOf(subject)
    ) {
      throw invalid(
        "subject",
        `relationship ${quote(id)} is about ${
          quote(upsert.subject)
        }, and keeps its subject`,
      );
    }
    const others = upsert === undefined || status === "revoked"
      ? []
      : active.of(subject, upsert.relationship_type).filter((each) =>
        each.upsert.subject !== upsert.subject
      );
    return { published, others };
  }
  const candidates = active.of(subject, type);
  const bySubject = Map.groupBy(candidates, ({ upsert }) => upsert.subject);
  const several = bySubject.values().find(({ length }) => length > 1);
  if (several === undefined) {
    const [published, ...others] = candidates;
    return { published, others };
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
 * A row without identifier means the only relationship of its subject and type:
 * the next plan could not tell it from a second one.
 */
function requireOnlyOne(
  { desired: { subject, type, relationship_id } }: Resolved,
  rows: readonly Resolved[] = [],
): void {
  if (relationship_id !== undefined || rows.length === 1) return;
  throw ambiguous(
    `another row gives ${quote(subject)} a second relationship of type ${type}`,
    "Name the relationship in each of these rows, or leave one out.",
  );
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

function membersOf({ desired, published }: Resolved): PlannedMembers {
  return desiredMembers(
    desired,
    published && publishedMembers(published.upsert),
  );
}

function sameNames(a: DesiredRelationship, b: DesiredRelationship): boolean {
  const given = (row: DesiredRelationship) =>
    Object.entries(row)
      .filter(([name, value]) =>
        name !== "row" && name !== "relationship_id" && value !== undefined
      )
      .map(([name]) => name).sort();
  return sameJson(given(a), given(b));
}

/** Returns the change of a row, or undefined if the feed already agrees. */
function changeOf(
  { desired, published, isMove }: Resolved,
): PlannedChange | undefined {
  const before = published === undefined
    ? null
    : publishedMembers(published.upsert);
  const after = membersOf({ desired, published });
  requireValidity(after);
  const isActive = published?.status === "active";
  const fields = isMove && before !== null
    ? movedFields(before, after)
    : plannedFields(before, after);
  if (isActive && fields.length === 0) return undefined;
  return {
    action: before === null ? "create" : isActive ? "update" : "reactivate",
    relationship_id: published?.upsert.relationship_id ??
      desired.relationship_id ?? null,
    subject: published?.upsert.subject ?? desired.subject,
    before,
    after,
    fields,
    row: desired.row ?? null,
  };
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
  endingOf: FindEnding,
): PlannedChange {
  const { after, relationship_id, subject } = change;
  if (after === null) return change;
  const readmits = endingOf(subject, after.relationship_type, relationship_id);
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

function ambiguous(why: string, hint: string, ids?: string[]): SigError {
  return new SigError("ambiguous_relationship", `Cannot plan: ${why}`, {
    context: {
      column: "relationship_id",
      ...(ids && { relationship_ids: ids.slice(0, 20) }),
      hint,
    },
  });
}

interface RowFault {
  readonly row: number | null;
  readonly error: SigError;
}

/** A fault of a list, with its row and column. */
export interface RowIssue extends Issue {
  /** Row number as in a spreadsheet; null if the list has no rows. */
  readonly row: number | null;
  /** The column, or member. */
  readonly column: string;
}

/** Maximum number of faults in an error. */
const MAX_REPORTED = 100;

function throwFaults(faults: readonly RowFault[]): void {
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
        errors: faults.slice(0, MAX_REPORTED).map(issueOf),
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
