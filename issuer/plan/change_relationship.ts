/** One relationship, changed in what is named and kept in all else. @module */

import type { RelationshipUpsertEvent } from "@sig/core";
import type { UpsertDraft } from "../append/event_draft.ts";
import type { DesiredRelationship } from "./desired_relationship.ts";
import type { PlannedChange } from "./plan_changes.ts";
import { upsertMembers } from "./plan_drafts.ts";
import {
  changedMembers,
  desiredMembers,
  publishedMembers,
} from "./planned_members.ts";

/** What is to be appended, and what it changes. */
export interface RelationshipChange {
  /** Field by field; no fields when the relationship is like that already. */
  readonly change: PlannedChange;
  /** The event that does it. */
  readonly draft: UpsertDraft;
}

/**
 * Changes the members that `wanted` names of a published relationship. An
 * upsert replaces a relationship, so the draft repeats all the others, also
 * those that no list shows: visibility, reason, other members of `display`.
 *
 * @example
 * ```ts
 * import { changeRelationship } from "@sig/issuer";
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
): RelationshipChange {
  const { relationship_id, relationship_type: type, subject } = upsert;
  const before = publishedMembers(upsert);
  const after = desiredMembers({ ...wanted, subject, type }, before);
  const fields = changedMembers(before, after);
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
