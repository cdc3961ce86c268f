/** A row with the relationship that it means, compared with others. @module */

import { quote } from "@sig/core/internal";
import { sameJson } from "../append/draft.ts";
import type { KeyRow } from "./list_rows.ts";
import {
  desiredMembers,
  plannedFields,
  type PlannedMembers,
} from "./members.ts";
import { ambiguous, invalid } from "./plan_faults.ts";
import type { PublishedRelationship } from "./published.ts";

/** A row, and a relationship that it is about. */
export interface Resolved {
  readonly desired: KeyRow;
  /** Undefined for a relationship that does not exist yet. */
  readonly published: PublishedRelationship | undefined;
  /**
   * Those of the person's other keys, which change together with it; absent if
   * the row does not name the relationship, but another one of the person.
   */
  readonly others?: readonly PublishedRelationship[];
  /**
   * `move`: the published one has another type and is replaced. `replaced`: it
   * is of a key that other keys replace.
   */
  readonly as?: "move" | "replaced";
}

/**
 * Returns what a row changes for another key of its person. Titles and metadata
 * belong to one relationship.
 */
export function shareWith(
  published: PublishedRelationship,
  desired: KeyRow,
): Resolved {
  const { subject } = published.upsert;
  return {
    desired: { ...shared(desired), subject, ofPerson: false },
    published,
  };
}

/** Returns the members that all keys of a person share. */
function shared(
  { ofPerson, roles, row, subject, type, valid_from, valid_until }: KeyRow,
): KeyRow {
  return { ofPerson, roles, row, subject, type, valid_from, valid_until };
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
  const isSecond = group.some((each) =>
    each.desired !== desired &&
    (each.desired.subject === subject ||
      !ofPerson && each.desired.relationship_id !== undefined)
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
  if (first === undefined) return;
  const of = (row: KeyRow) => ({
    desired: ofPerson ? row : shared(row),
    published,
  });
  const changed = differing(of(first.desired), of(desired));
  if (changed === undefined) return;
  throw contradiction("another key of the same person as", first, changed);
}

/** Returns the members in which two rows differ; undefined if they are equal. */
export function differing(
  a: Resolved,
  b: Resolved,
): readonly string[] | undefined {
  const changed = plannedFields(membersOf(a), membersOf(b));
  const areNamed = sameJson(namesIn(a.desired), namesIn(b.desired));
  return changed.length === 0 && areNamed ? undefined : changed;
}

export function contradiction(
  about: string,
  { desired: { row } }: Resolved,
  changed: readonly string[] = [],
) {
  const other = row === null || row === undefined
    ? "another row"
    : `row ${row}`;
  return invalid(
    changed[0] === "relationship_type" ? "type" : changed[0] ?? "subject",
    `it is about ${about} ${other}, and says otherwise (${
      changed.join(", ") || "other columns"
    })`,
  );
}

export function membersOf({ desired, published }: Resolved): PlannedMembers {
  return desiredMembers(desired, published?.upsert);
}

/** Members of a row that are not of the relationship. */
const NOT_COMPARED = ["name", "ofPerson", "person", "relationship_id", "row"];

/** Returns the names of the members that a row has. */
function namesIn(row: KeyRow): readonly string[] {
  return Object.entries(row).flatMap(([name, value]) =>
    NOT_COMPARED.includes(name) || value === undefined ? [] : [name]
  ).sort();
}
