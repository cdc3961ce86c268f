/** Probable mistakes in a plan, which do not stop it. @module */

import { instantOf } from "@sig/core";
import { validityAt } from "@sig/core/internal";
import { KnownNames } from "../people/similar_names.ts";
import type { Plan } from "./plan_changes.ts";
import type { PublishedState } from "./published.ts";

/** Maximum number of doubts that are listed. */
const MOST_NAMED = 10;

/** Finds probable mistakes in a plan. Each doubt is listed once. */
export function doubtsAboutPlan(
  { changes, expired = [] }: Plan,
  { people, relationships }: PublishedState,
  now: Date,
): readonly string[] {
  const upserts = Array.from(relationships.values(), ({ upsert }) => upsert);
  const names = new KnownNames(upserts);
  const doubts = new Map<string, string>();
  const add = (row: number | null, found: readonly string[]) => {
    for (const doubt of found) {
      if (doubts.has(doubt)) continue;
      doubts.set(doubt, row === null ? doubt : `row ${row}: ${doubt}`);
    }
  };
  const addExpired = (
    row: number | null,
    subject: string,
    end: string | null,
  ) =>
    add(row, [
      `the relationship of ${subject} expired at ${end}: every check denies it`,
    ]);
  for (const { before, after, row, subject } of changes) {
    if (after === null) continue;
    add(row, names.doubtsAboutSubject(subject));
    names.add(subject, []);
    for (const role of after.roles) {
      if (before?.roles.includes(role)) continue;
      const several =
        "several are separated by ; in CSV, and are items of a list elsewhere";
      add(row, names.doubtsAboutRole(role, several));
      names.add(subject, [role]);
    }
    if (validityAt(after, instantOf(now)) === "expired") {
      addExpired(row, subject, after.valid_until);
    }
  }
  for (const { row, subject, valid_until } of expired) {
    addExpired(row, subject, valid_until);
  }
  const known = new Set(upserts.map(({ subject }) => subject));
  for (const { persons, roots } of people.conflicts((key) => known.has(key))) {
    add(null, [
      persons.length > 1
        ? `the persons ${
          persons.map((each) => JSON.stringify(each)).join(", ")
        } have one root in the feed, ${roots[0]}: they count as one person`
        : `the person ${
          JSON.stringify(persons[0])
        } has ${roots.length} roots in the feed, ${
          roots.join(", ")
        }: a login sees ${roots.length} people`,
    ]);
  }
  const all = [...doubts.values()];
  const more = all.length - MOST_NAMED;
  return more <= 0
    ? all
    : [...all.slice(0, MOST_NAMED), `${more} more such doubts`];
}
