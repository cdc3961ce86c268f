/** The changes of a plan, made from rows. @module */

import { compareInstants, parseTimestamp } from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  type PlannedField,
  plannedFields,
  type PlannedMembers,
  publishedMembers,
} from "./members.ts";
import type { Gap, PersonIndex } from "./person_index.ts";
import { invalid } from "./plan_faults.ts";
import type { EndedRelationship, PublishedRelationship } from "./published.ts";
import { membersOf, type Resolved } from "./resolved_row.ts";

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
  readonly #index: PersonIndex;
  readonly #retroactive: boolean;
  /** The roots of people whose first keys are new. */
  readonly #roots = new Map<string, string>();

  constructor(index: PersonIndex, retroactive: boolean) {
    this.#index = index;
    this.#retroactive = retroactive;
  }

  /** Returns the change of a row, or undefined if the feed already agrees. */
  changeOf(resolved: Resolved): PlannedChange | undefined {
    const { as, desired, published } = resolved;
    const { row = null } = desired;
    if (as === "replaced" && published !== undefined) {
      const reason_code = "superseded";
      return { ...revocationOf(published), row, reason_code };
    }
    const { relationship_id = desired.relationship_id ?? null, subject } =
      published?.upsert ?? desired;
    const before = published === undefined
      ? null
      : publishedMembers(published.upsert);
    const isActive = published?.status === "active";
    const wanted = this.#linked(membersOf(resolved), subject);
    // A change of type begins a new relationship.
    const begun = as === "move" ? undefined : published;
    const change = begin(
      {
        action: before === null ? "create" : isActive ? "update" : "reactivate",
        relationship_id,
        subject,
        before,
        after: wanted,
        fields: [],
        row,
      },
      begun,
      this.#index,
      this.#retroactive,
    );
    const { after } = change;
    requireValidity(after);
    const fields = plannedFields(before, after, as === "move");
    return isActive && fields.length === 0 ? undefined : { ...change, fields };
  }

  /** Links a key that is new in the feed to its person. */
  #linked(members: PlannedMembers, subject: string): PlannedMembers {
    const root = this.#rootFor(subject);
    if (root === undefined) return members;
    if (!this.#index.state.canLink(subject, root)) {
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

  /**
   * Returns the root that a new key of a known person names; undefined for the
   * first key of a person.
   */
  #rootFor(subject: string): string | undefined {
    if (this.#index.isKnown(subject)) return undefined;
    const person = this.#index.personOf(subject);
    const [oldest = this.#roots.get(person)] = this.#index.keysOf(person);
    if (oldest !== undefined && oldest !== subject) {
      return this.#index.people.rootOf(oldest);
    }
    this.#roots.set(person, subject);
    return undefined;
  }
}

/** A change that makes a relationship active or keeps it active. */
type Admitting = PlannedChange & { readonly after: PlannedMembers };

/**
 * Replaces the start of a change, if it begins when it is appended, and adds the
 * earlier revocation that it undoes.
 *
 * @param published The relationship that continues.
 */
export function begin(
  change: Admitting,
  published: PublishedRelationship | undefined,
  index: PersonIndex,
  retroactive: boolean,
): Admitting {
  const { after, relationship_id, subject } = change;
  const { valid_from, ...start } = index
    .startOf(subject, after, published, retroactive);
  const readmits = index
    .readmission(subject, after.relationship_type, relationship_id);
  return {
    ...change,
    after: { ...after, valid_from },
    ...start,
    ...(readmits === undefined ? {} : { readmits }),
  };
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
