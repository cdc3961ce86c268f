/** The members of a relationship that a list names and a plan compares. @module */

import {
  compareInstants,
  type OpenObject,
  parseTimestamp,
  type RelationshipType,
  type RelationshipUpsertEvent,
} from "@sig/core";
import { sameJson } from "../append/draft.ts";

/** A relationship as a plan shows it, before or after a change. */
export interface PlannedMembers {
  /** What kind of relationship. */
  readonly relationship_type: RelationshipType;
  /** The roles, sorted. */
  readonly roles: readonly string[];
  /** Start of validity, or null. */
  readonly valid_from: string | null;
  /** End of validity, or null. */
  readonly valid_until: string | null;
  /** Job or role, or null. */
  readonly title: string | null;
  /** Department or team, or null. */
  readonly department: string | null;
  /** Anything else for people, or null. */
  readonly label: string | null;
  /** The issuer's own members, or null. */
  readonly metadata: OpenObject | null;
}

const NOTHING: Omit<PlannedMembers, "relationship_type"> = Object.freeze({
  roles: Object.freeze([]),
  valid_from: null,
  valid_until: null,
  title: null,
  department: null,
  label: null,
  metadata: null,
});

/** Every member that can change, in the order in which a plan names them. */
export const PLANNED_MEMBERS: readonly (keyof PlannedMembers)[] = [
  "relationship_type",
  ...Object.keys(NOTHING) as (keyof typeof NOTHING)[],
];

/** What an upsert published. */
export function publishedMembers(
  upsert: RelationshipUpsertEvent,
): PlannedMembers {
  const { display, metadata } = upsert;
  return {
    relationship_type: upsert.relationship_type,
    roles: sortedSet(upsert.roles),
    valid_from: upsert.valid_from,
    valid_until: upsert.valid_until,
    title: display?.title ?? null,
    department: display?.department ?? null,
    label: display?.label ?? null,
    metadata: metadata ?? null,
  };
}

/** What a row asks for, on top of what is published (nothing, for a new one). */
export function desiredMembers(
  desired: DesiredRelationship,
  before: Omit<PlannedMembers, "relationship_type"> = NOTHING,
): PlannedMembers {
  // Null is a wish as well.
  const { roles = before.roles, valid_from = before.valid_from } = desired;
  const { valid_until = before.valid_until, title = before.title } = desired;
  const { department = before.department, label = before.label } = desired;
  const { type: relationship_type, metadata = before.metadata } = desired;
  return {
    relationship_type,
    roles: desired.roles === undefined ? roles : sortedSet(roles),
    ...{ valid_from, valid_until, title, department, label, metadata },
  };
}

/** The members that differ in what they mean, not in how they are written. */
export function changedMembers(
  before: PlannedMembers,
  after: PlannedMembers,
): readonly (keyof PlannedMembers)[] {
  return PLANNED_MEMBERS.filter((name) => !isSame(name, before, after));
}

/**
 * What a change does to its members: those that differ, those that say
 * something of a new relationship, none of an ending.
 */
export function plannedFields(
  before: PlannedMembers | null,
  after: PlannedMembers | null,
): readonly (keyof PlannedMembers)[] {
  if (after === null) return [];
  if (before !== null) return changedMembers(before, after);
  return PLANNED_MEMBERS.filter((name) =>
    name === "roles" ? after.roles.length > 0 : after[name] !== null
  );
}

function isSame(
  name: keyof PlannedMembers,
  before: PlannedMembers,
  after: PlannedMembers,
): boolean {
  const [a, b] = [before[name], after[name]];
  if (a === b) return true;
  if (name === "valid_from" || name === "valid_until") {
    const [first, second] = [parseTimestamp(a), parseTimestamp(b)];
    return first !== undefined && second !== undefined &&
      compareInstants(first, second) === 0;
  }
  return sameJson(a, b);
}

function sortedSet(roles: readonly string[]): readonly string[] {
  return [...new Set(roles)].sort();
}

/**
 * One row of a list of people. A member that is absent is kept as it is
 * published; null, or an empty list of roles, means none.
 */
export interface DesiredRelationship {
  /** Who: a DID. */
  readonly subject: string;
  /** What kind of relationship. */
  readonly type: RelationshipType;
  /**
   * Which one. Absent: the one active relationship of this subject and type,
   * or a new one where none is active.
   */
  readonly relationship_id?: string | undefined;
  /** The roles; their order means nothing. */
  readonly roles?: readonly string[] | undefined;
  /** Start of validity (inclusive): RFC 3339 UTC, or null. */
  readonly valid_from?: string | null | undefined;
  /** End of validity (exclusive): RFC 3339 UTC, or null. */
  readonly valid_until?: string | null | undefined;
  /** Shown to people: job or role. */
  readonly title?: string | null | undefined;
  /** Shown to people: department or team. */
  readonly department?: string | null | undefined;
  /** Shown to people: anything. */
  readonly label?: string | null | undefined;
  /** The issuer's own members. */
  readonly metadata?: OpenObject | null | undefined;
  /** Its place in the list, counted as a spreadsheet does; for messages. */
  readonly row?: number | null | undefined;
}

/**
 * What a row, or `sig set`, changes for every key of a person. Titles and
 * metadata are of one relationship.
 */
export function sharedMembers(
  { roles, valid_from, valid_until }: Omit<
    DesiredRelationship,
    "subject" | "type"
  >,
): Pick<DesiredRelationship, "roles" | "valid_from" | "valid_until"> {
  return { roles, valid_from, valid_until };
}
