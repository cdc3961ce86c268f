/** No mass ending by accident. @module */

import {
  compareInstants,
  instantOf,
  parseTimestamp,
  SigError,
} from "@sig/core";
import type { Plan, PlannedChange } from "./plan_changes.ts";
import type { PublishedState } from "./published_relationships.ts";

/** Endings up to this number need no confirmation. */
const MAX_ENDINGS = 5;

/** Nor do those up to this part of the active relationships. */
const MAX_PART = 0.1;

/**
 * Refuses a plan that ends more than 5 relationships and more than a tenth of
 * the active ones, unless exactly that number was confirmed: a list that was
 * cut off, or filtered, would end everybody else's, and so would a column of
 * dates that have passed.
 *
 * @param now The clock: an end that it has passed ends a relationship too;
 * without it only revocations count.
 *
 * @throws {SigError} `confirmation_required`
 */
export function requireConfirmation(
  { changes }: Plan,
  { relationships }: PublishedState,
  confirmed: number | undefined,
  now?: Date,
): void {
  const endings = changes.filter((change) => isEnding(change, now)).length;
  let active = 0;
  for (const { status } of relationships.values()) {
    if (status === "active") active++;
  }
  const isFew = endings <= MAX_ENDINGS || endings <= active * MAX_PART;
  // A repeated, finished job ends nothing, whatever was confirmed for it.
  if (endings === 0) return;
  if (confirmed === undefined ? isFew : confirmed === endings) return;
  throw new SigError(
    "confirmation_required",
    confirmed === undefined
      ? `Cannot apply plan: it ends ${endings} of ${active} active relationships`
      : `Cannot apply plan: it ends ${endings} relationships, not ${confirmed}`,
    {
      context: {
        endings,
        active,
        hint: `If that is meant, say --confirm-revocations ${endings}.`,
      },
    },
  );
}

function isEnding(
  { action, before, after }: PlannedChange,
  now: Date | undefined,
): boolean {
  if (action === "revoke") return true;
  if (now === undefined || before === null) return false;
  return hasEnded(after, now) && !hasEnded(before, now);
}

function hasEnded(members: PlannedChange["after"], now: Date): boolean {
  const end = parseTimestamp(members?.valid_until);
  return end !== undefined && compareInstants(end, instantOf(now)) <= 0;
}
