/** From a plan to the drafts of its events. @module */

import {
  type Display,
  quote,
  type ReasonCode,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import type { EventDraft } from "../append/event_draft.ts";
import type { Plan, PlannedChange } from "./plan_changes.ts";
import type { PlannedMembers } from "./planned_members.ts";
import type { PublishedState } from "./published_relationships.ts";

/**
 * The drafts that carry a plan out, one a change and in its order. What a plan
 * does not show (visibility, reason, other members of `display`) stays as
 * published.
 *
 * @throws {SigError} `plan_outdated` when a relationship that the plan speaks
 * of is not in this state.
 */
export function planDrafts(
  plan: Plan,
  state: PublishedState,
  reasonCode: ReasonCode,
): readonly EventDraft[] {
  return plan.changes.map((change) => draftOf(change, state, reasonCode));
}

function draftOf(
  { action, relationship_id, subject, before, after }: PlannedChange,
  { relationships }: PublishedState,
  reasonCode: ReasonCode,
): EventDraft {
  const published = relationship_id === null
    ? undefined
    : relationships.get(relationship_id);
  if (before !== null && published === undefined) {
    throw new SigError(
      "plan_outdated",
      `Cannot apply plan: the feed has no relationship ${
        quote(relationship_id ?? "")
      }`,
      { context: { hint: "Make the plan again." } },
    );
  }
  if (after === null || action === "revoke") {
    return {
      event_type: "relationship.revoke",
      relationship_id: relationship_id ?? "",
      reason_code: reasonCode,
    };
  }
  return {
    event_type: "relationship.upsert",
    subject,
    ...(relationship_id === null ? {} : { relationship_id }),
    ...upsertMembers(after, published?.upsert),
  };
}

/** What an upsert says, on top of the one that it replaces. */
export function upsertMembers(
  after: PlannedMembers,
  before: RelationshipUpsertEvent | undefined,
) {
  const { title, department, label, ...members } = after;
  return {
    ...members,
    ...(before === undefined ? {} : { visibility: before.visibility }),
    ...(before?.reason ? { reason: before.reason } : {}),
    display: displayOf({ title, department, label }, before?.display ?? {}),
  };
}

function displayOf(
  shown: Pick<PlannedMembers, "title" | "department" | "label">,
  before: Display,
): Display | null {
  const members = Object.entries({ ...before, ...shown });
  const kept = members.filter(([, value]) => value !== null);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}
