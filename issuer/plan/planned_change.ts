/** The changes of a plan, made from rows. @module */

import { compareInstants, parseTimestamp } from "@sig/core";
import { quote } from "@sig/core/internal";
import { type KeyRow, Links } from "./list_rows.ts";
import {
  plannedFields,
  type PlannedMembers,
  publishedMembers,
} from "./members.ts";
import type { Gap, PeopleHistory, StartOptions } from "./people_history.ts";
import { invalid } from "./plan_faults.ts";
import type {
  EndedRelationship,
  PublishedRelationship,
  PublishedState,
} from "./published.ts";
import { membersOf, type Resolved } from "./resolve_rows.ts";

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

/** Makes the changes of rows. */
export class ChangeBuilder {
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
    { ...options, isLinked: after.metadata?.same_person_as !== undefined },
  );
  const { gap, replaces, valid_from } = start;
  return {
    ...change,
    after: { ...after, valid_from },
    ...(replaces === undefined ? {} : { listed_from: replaces }),
    ...(gap === undefined ? {} : { fills_gap: gap }),
  };
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

/** Returns the change that ends a key which the list does not have. */
export function replacedKey(
  published: PublishedRelationship,
  { row = null }: KeyRow,
): PlannedChange {
  return { ...revocationOf(published), row, reason_code: "superseded" };
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
