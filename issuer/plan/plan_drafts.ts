/** Builds event drafts from planned changes. @module */

import {
  type Display,
  type ReasonCode,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { EventDraft, UpsertDraft } from "../append/draft.ts";
import {
  desiredMembers,
  type DesiredRelationship,
  isMove,
  plannedFields,
  type PlannedMembers,
  publishedMembers,
} from "./members.ts";
import type { PlannedChange } from "./planned_change.ts";
import type { Plan } from "./plan_changes.ts";
import type { PublishedState } from "./published.ts";

/**
 * Returns the drafts that carry out a plan, in its order: one per change, or
 * two if a relationship replaces another, the revocation first. Members that a
 * plan does not show (visibility, reason, other members of `display`) keep
 * their published values.
 *
 * @throws {SigError} `plan_outdated` if a relationship of the plan is missing
 * in this state.
 */
export function planDrafts(
  plan: Plan,
  state: PublishedState,
  reasonCode: ReasonCode,
): readonly EventDraft[] {
  return plan.changes.flatMap((change) => draftsOf(change, state, reasonCode));
}

function draftsOf(
  change: PlannedChange,
  { relationships }: PublishedState,
  reasonCode: ReasonCode,
): readonly EventDraft[] {
  const { action, relationship_id, subject, before, after } = change;
  const published = relationships.get(relationship_id ?? "");
  if (before !== null && published === undefined) {
    throw new SigError("plan_outdated", {
      action: "apply plan",
      reason: `the feed has no relationship ${quote(relationship_id ?? "")}`,
      context: { hint: "Make the plan again." },
    });
  }
  if (after === null || action === "revoke") {
    return [ending(relationship_id ?? "", change.reason_code ?? reasonCode)];
  }
  const moved = isMove(change) ? relationship_id ?? undefined : undefined;
  return [
    ...(moved === undefined ? [] : [ending(moved, "superseded")]),
    {
      event_type: "relationship.upsert",
      subject,
      ...(relationship_id === null || moved ? {} : { relationship_id }),
      ...upsertMembers(after, published?.upsert),
    },
  ];
}

function ending(
  relationship_id: string,
  reason_code: ReasonCode,
): EventDraft {
  return { event_type: "relationship.revoke", relationship_id, reason_code };
}

/** Returns the members of an upsert, based on the one that it replaces. */
function upsertMembers(
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

/**
 * Changes the members that `wanted` names of a published relationship. An
 * upsert replaces a relationship, so the draft repeats all the others, also
 * those that no list shows: visibility, reason, other members of `display`.
 *
 * @returns the event to append, and what it changes; no fields if the
 * relationship already agrees.
 *
 * @example
 * ```ts
 * import { changeRelationship } from "@sig/issuer/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const { change, draft } = changeRelationship({
 *   event_type: "relationship.upsert",
 *   spec_version: "sig/0.1",
 *   sequence: 1,
 *   event_id: "e1",
 *   issuer: "did:web:acme.example",
 *   issued_at: "2026-01-01T00:00:00Z",
 *   visibility: "public",
 *   relationship_id: "r1",
 *   subject: "did:web:alice.example",
 *   relationship_type: "contractor",
 *   status: "active",
 *   roles: ["deploy"],
 *   valid_from: null,
 *   valid_until: "2027-01-01T00:00:00Z",
 * }, { roles: ["deploy", "review"] });
 * assertEquals(change.fields, ["roles"]);
 * assertEquals(draft.valid_until, "2027-01-01T00:00:00Z");
 * ```
 */
export function changeRelationship(
  upsert: RelationshipUpsertEvent,
  wanted: Omit<DesiredRelationship, "subject" | "type" | "relationship_id">,
): { readonly change: PlannedChange; readonly draft: UpsertDraft } {
  const { relationship_id, relationship_type: type, subject } = upsert;
  const before = publishedMembers(upsert);
  const after = desiredMembers({ ...wanted, subject, type }, upsert);
  const fields = plannedFields(before, after);
  return {
    change: {
      action: "update",
      relationship_id,
      subject,
      before,
      after,
      fields,
      row: null,
    },
    draft: {
      event_type: "relationship.upsert",
      subject,
      relationship_id,
      ...upsertMembers(after, upsert),
    },
  };
}
