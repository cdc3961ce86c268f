/** Drafts, taken over once and for all. @module */

import { escapePointer, isObject, quote, SigError } from "@sig/core";
import type { RevokeDraft, UpsertDraft } from "./event_draft.ts";

/** A draft whose members nobody changes any more; their values are unjudged. */
export type DraftMembers = {
  readonly [member: string]: unknown;
  readonly event_type: "relationship.upsert" | "relationship.revoke";
};

// Tied to the types, so that a member can't be forgotten in one place.
const UPSERT_MEMBERS: { readonly [M in keyof Required<UpsertDraft>]: true } = {
  event_type: true,
  event_id: true,
  issued_at: true,
  relationship_id: true,
  subject: true,
  visibility: true,
  relationship_type: true,
  roles: true,
  valid_from: true,
  valid_until: true,
  display: true,
  reason: true,
  metadata: true,
};

const REVOKE_MEMBERS: { readonly [M in keyof Required<RevokeDraft>]: true } = {
  event_type: true,
  event_id: true,
  issued_at: true,
  relationship_id: true,
  subject: true,
  visibility: true,
  reason_code: true,
  effective_at: true,
  amend: true,
  reason: true,
  metadata: true,
};

/**
 * Copies a draft by way of JSON: its getters run once, and what can't be
 * written (functions, undefined) is not there. A misspelt member is refused,
 * since leaving it out would write another event than was meant.
 *
 * @throws {SigError} `unknown_event_type`, `missing_field`, `invalid_field`
 * @throws {TypeError} for what is not JSON: cycles, BigInt.
 */
export function readDraft(draft: unknown): DraftMembers {
  const text: string | undefined = JSON.stringify(draft);
  const copy: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isObject(copy)) {
    throw new TypeError("Cannot append: a draft must be an object");
  }
  const type = Object.hasOwn(copy, "event_type") ? copy.event_type : undefined;
  if (type !== "relationship.upsert" && type !== "relationship.revoke") {
    throw new SigError(
      type === undefined
        ? "missing_field"
        : typeof type === "string"
        ? "unknown_event_type"
        : "invalid_field",
      "Cannot append: event_type must be relationship.upsert or relationship.revoke",
      { context: { pointer: "/event_type" } },
    );
  }
  const known = type === "relationship.upsert"
    ? UPSERT_MEMBERS
    : REVOKE_MEMBERS;
  const extra = Object.keys(copy).find((name) => !Object.hasOwn(known, name));
  if (extra !== undefined) {
    const shown = extra.slice(0, 80).toWellFormed();
    throw new SigError(
      "invalid_field",
      `Cannot append: a draft of ${type} has no member ${quote(extra)}`,
      { context: { pointer: `/${escapePointer(shown)}` } },
    );
  }
  return { ...copy, event_type: type };
}
