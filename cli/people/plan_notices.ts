/** What a list may not have meant to say. @module */

import type { Plan } from "@sig/issuer";
import { doubtAboutRole, MOST_NAMED } from "../issue/upsert_notices.ts";

/** Roles that a plan would give and that look like several, each once. */
export function doubtsAboutPlan({ changes }: Plan): readonly string[] {
  const doubts = new Map<string, string>();
  for (const { before, after, row } of changes) {
    const had = new Set(before?.roles);
    for (const role of after?.roles ?? []) {
      if (had.has(role) || doubts.has(role)) continue;
      const doubt = doubtAboutRole(
        role,
        "several are separated by ; in CSV, and are items of a list elsewhere",
      );
      if (doubt === undefined) continue;
      doubts.set(role, row === null ? doubt : `row ${row}: ${doubt}`);
    }
  }
  const all = [...doubts.values()];
  const more = all.length - MOST_NAMED;
  return more <= 0
    ? all
    : [...all.slice(0, MOST_NAMED), `${more} more such roles`];
}
