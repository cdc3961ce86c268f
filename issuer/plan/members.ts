/** The members of a relationship that a plan compares. @module */

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
  /** The type of relationship. */
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
  /** Any other text for people, or null. */
  readonly label: string | null;
  /** Members defined by the issuer, or null. */
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

/** Every member that can change, in the order in which a plan lists them. */
export const PLANNED_MEMBERS: readonly (keyof PlannedMembers)[] = [
  "relationship_type",
  ...Object.keys(NOTHING) as (keyof typeof NOTHING)[],
];

/**
 * A member that differs. `type` means that the relationship is revoked as
 * superseded and a new one of the other type is created.
 */
export type PlannedField = keyof PlannedMembers | "type";

/** Returns whether a change replaces a relationship by another type. */
export function isMove(
  { fields }: { readonly fields: readonly PlannedField[] },
): boolean {
  return fields.includes("type");
}

export function publishedMembers(
  { display, metadata, relationship_type, roles, valid_from, valid_until }:
    RelationshipUpsertEvent,
): PlannedMembers {
  return {
    relationship_type,
    roles: sortedSet(roles),
    valid_from,
    valid_until,
    title: display?.title ?? null,
    department: display?.department ?? null,
    label: display?.label ?? null,
    metadata: metadata ?? null,
  };
}

/** Returns the members that a row requests, based on the published ones. */
export function desiredMembers(
  desired: DesiredRelationship,
  upsert?: RelationshipUpsertEvent,
): PlannedMembers {
  const { metadata, roles, type: relationship_type } = desired;
  const before = upsert === undefined
    ? { relationship_type, ...NOTHING }
    : publishedMembers(upsert);
  // Null is a requested value as well.
  const requested = Object.entries({ ...desired, relationship_type })
    .filter(([name, value]) =>
      Object.hasOwn(before, name) && value !== undefined
    );
  return {
    ...before,
    ...Object.fromEntries(requested),
    roles: sortedSet(roles ?? before.roles),
    metadata: withLink(metadata, before.metadata),
  };
}

/** A list can't change the link of a key, which is published for good. */
function withLink(
  wanted: OpenObject | null | undefined,
  before: OpenObject | null,
): OpenObject | null {
  if (wanted === undefined) return before;
  const link = before?.same_person_as;
  if (link === undefined || Object.hasOwn(wanted ?? {}, "same_person_as")) {
    return wanted;
  }
  return { ...wanted, same_person_as: link };
}

/**
 * Returns the fields of a change: the members whose meaning differs, whatever
 * their spelling; the set members of a new relationship; none of a revocation.
 *
 * @param isMove Whether `type` stands for a new type (default: false).
 */
export function plannedFields(
  before: PlannedMembers | null,
  after: PlannedMembers | null,
  isMove = false,
): readonly PlannedField[] {
  if (after === null) return [];
  return PLANNED_MEMBERS.filter((name) => {
    if (before !== null) return !isSame(name, before[name], after[name]);
    return name === "roles" ? after.roles.length > 0 : after[name] !== null;
  }).map((name) => isMove && name === "relationship_type" ? "type" : name);
}

function isSame(name: PlannedField, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (name !== "valid_from" && name !== "valid_until") return sameJson(a, b);
  const [first, second] = [parseTimestamp(a), parseTimestamp(b)];
  return first !== undefined && second !== undefined &&
    compareInstants(first, second) === 0;
}

function sortedSet(roles: readonly string[]): readonly string[] {
  return [...new Set(roles)].sort();
}

/**
 * A row of a list of people. An absent member keeps its published value; null,
 * or an empty list of roles, clears it.
 */
export interface DesiredRelationship {
  /**
   * DID of the subject, a key (default: all keys that the people file has for
   * `person`).
   */
  readonly subject?: string | undefined;
  /**
   * The organisation's own id of the person. With a subject, the keys that the
   * list has for the person are all of the person's keys.
   */
  readonly person?: string | undefined;
  /** The display name, for the people file; never published. */
  readonly name?: string | null | undefined;
  /** The type of relationship. */
  readonly type: RelationshipType;
  /**
   * Identifier of the relationship. If absent: the only active relationship of
   * this subject and type, or a new one if none is active.
   */
  readonly relationship_id?: string | undefined;
  /** The roles, in any order. */
  readonly roles?: readonly string[] | undefined;
  /** Start of validity (inclusive): RFC 3339 UTC, or null. */
  readonly valid_from?: string | null | undefined;
  /** End of validity (exclusive): RFC 3339 UTC, or null. */
  readonly valid_until?: string | null | undefined;
  /** Job or role, displayed to people. */
  readonly title?: string | null | undefined;
  /** Department or team, displayed to people. */
  readonly department?: string | null | undefined;
  /** Any other text, displayed to people. */
  readonly label?: string | null | undefined;
  /** Members defined by the issuer. */
  readonly metadata?: OpenObject | null | undefined;
  /** Row number as in a spreadsheet, for messages. */
  readonly row?: number | null | undefined;
}
