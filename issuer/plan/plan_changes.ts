/**
 * Compares a desired list with a feed and plans the changes. All rows are
 * checked before any is refused.
 *
 * @module
 */

import { instantOf, isSigError, type ReasonCode } from "@sig/core";
import { validityAt } from "@sig/core/internal";
import { People } from "../people/people.ts";
import {
  expandRows,
  findMovedKeys,
  joinPeople,
  type KeyRow,
  keysIn,
  type WaitingRow,
} from "./list_rows.ts";
import type { DesiredRelationship } from "./members.ts";
import { PeopleHistory } from "./people_history.ts";
import { throwFaults } from "./plan_faults.ts";
import {
  ChangeBuilder,
  type PlannedChange,
  replacedKey,
  revocationOf,
} from "./planned_change.ts";
import {
  keyOf,
  personIn,
  type PublishedRelationship,
  type PublishedState,
} from "./published.ts";
import {
  ActiveRelationships,
  addOnce,
  findMoved,
  findPublished,
  isInScope,
  otherKeysOf,
  requireInScope,
  requireOnlyOne,
  type Resolved,
} from "./resolve_rows.ts";

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

function byIdentifier(a: PublishedRelationship, b: PublishedRelationship) {
  return a.upsert.relationship_id < b.upsert.relationship_id ? -1 : 1;
}
