/**
 * Compares a desired list with a feed and plans the changes. All rows are
 * checked before any is refused.
 *
 * The way of a list, for one row. The feed has Olga as an employee with the role
 * `deploy`, by her key `did:key:old`; the people file has `17` for this key.
 *
 * ```text
 * person,subject,type,roles           cli/people/read_people.ts: readPeople
 * 17,did:key:new,employee,deploy      → DesiredRelationship
 *     │  expandRows: which keys does the row mean?
 *     ▼
 * KeyRow {subject: did:key:new, ofPerson: true}
 *     │  ResolvedRows.assign: which relationships of the feed does it mean?
 *     ▼
 * Resolved {published: undefined}             no relationship of this key
 * Resolved {published: r1, as: "replaced"}    the list has another key for 17
 *     │  ChangeBuilder.changeOf: what differs, and when does it begin?
 *     ▼
 * PlannedChange {action: "create", after: {roles: ["deploy"],
 *     valid_from: now, metadata: {same_person_as: did:key:old}, …}}
 * PlannedChange {action: "revoke", relationship_id: r1, reason_code: superseded}
 *     │  planDrafts: which events say so?
 *     ▼
 * UpsertDraft, RevokeDraft
 *     │  requireGuards: must the operator confirm what `check` would answer
 *     │  differently?
 *     ▼
 * Issuer.appendAll: signed, in one batch; from here on as every draft
 * ```
 *
 * `cli/commands/plan.ts` runs these steps, and `appendProposal` requires the
 * guards. A person is always looked up in `PersonIndex`.
 *
 * @module
 */

import { instantOf, type ReasonCode } from "@sig/core";
import { validityAt } from "@sig/core/internal";
import {
  expandRows,
  findMovedKeys,
  keysIn,
  type WaitingRow,
} from "./list_rows.ts";
import type { DesiredRelationship } from "./members.ts";
import { PersonIndex } from "./person_index.ts";
import { collectFault, throwFaults } from "./plan_faults.ts";
import {
  ChangeBuilder,
  type PlannedChange,
  revocationOf,
} from "./planned_change.ts";
import {
  joinPeople,
  type PublishedRelationship,
  type PublishedState,
} from "./published.ts";
import type { Resolved } from "./resolved_row.ts";
import { ResolvedRows } from "./resolve_rows.ts";

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
 * import {
 *   createMemoryKeyStore,
 *   createMemoryStore,
 *   initIssuer,
 *   openIssuer,
 *   planChanges,
 * } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * const [store, keys] = [createMemoryStore(), createMemoryKeyStore()];
 * await initIssuer({ store, keys, did: "did:web:acme.example" });
 * const issuer = await openIssuer({ store, keys, now: () => new Date() });
 * const { changes } = planChanges(await issuer.published(), [
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
  const { now, prune = false, retroactive = false, types } = options;
  const list = [...desired];
  const faults = [...findMovedKeys(state, list)];
  const index = new PersonIndex(joinPeople(state, keysIn(list)), now);
  const { rows, waiting } = expandRows(index, list, faults);
  const resolved = new ResolvedRows(index, rows, types, faults);
  const build = new ChangeBuilder(index, retroactive);
  const changes: PlannedChange[] = [];
  const expired: ExpiredRelationship[] = [];
  let unchanged = 0;
  for (const row of resolved.all) {
    collectFault(faults, row.desired, () => {
      for (const each of resolved.assign(row)) {
        const change = build.changeOf(each);
        if (change !== undefined) changes.push(change);
        else {
          unchanged++;
          expired.push(...expiredOf(each, now));
        }
      }
    });
  }
  throwFaults(faults);
  const rest = index.active.filter((each) => !resolved.isManaged(each));
  const inScope = rest.filter(({ upsert }) =>
    resolved.isInScope(upsert.relationship_type)
  );
  const ending = prune ? inScope.toSorted(byIdentifier) : [];
  return {
    issuer: state.issuer,
    based_on: {
      last_sequence: state.last_sequence,
      feed_sha256: state.feed_sha256,
    },
    changes: [...changes, ...ending.map(revocationOf)],
    unchanged,
    unmanaged: rest.length - ending.length,
    ...(expired.length === 0 ? {} : { expired }),
    waiting,
    unlisted: prune ? [] : findUnlisted(index, inScope, list),
  };
}

/** Returns the people with access of these relationships who are not listed. */
function findUnlisted(
  index: PersonIndex,
  rest: readonly PublishedRelationship[],
  list: readonly DesiredRelationship[],
): readonly UnlistedPerson[] {
  const { people } = index;
  const listed = new Set(
    list.map(({ person, subject = "" }) =>
      person === undefined ? people.keyOf(subject) : people.keyOfPerson(person)
    ),
  );
  const byPerson = Map.groupBy(
    rest.filter(({ upsert }) => index.isEffective(upsert)),
    ({ upsert }) => people.keyOf(upsert.subject),
  );
  return [...byPerson].filter(([person]) => !listed.has(person))
    .map(([, all]) => {
      const { subject } = all[0]!.upsert;
      const { name, person } = people.named(subject);
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
