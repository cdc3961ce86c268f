/** Valid events for tests, with changes. @module */

import type {
  RelationshipRevokeEvent,
  RelationshipUpsertEvent,
} from "@sig/core";

/** The issuer of all test events. */
export const ISSUER = "did:web:acme.example";

/** The subject of all test events. */
export const ALICE = "did:web:alice.example";

/**
 * Returns `2026-01-<day>T00:00:00Z`; `rest` replaces the text after the date.
 */
export function day(n: number, rest = "T00:00:00Z"): string {
  return `2026-01-${String(n).padStart(2, "0")}${rest}`;
}

/** Returns a valid upsert, issued on the day of January with its sequence. */
export function upsert(
  sequence: number,
  changes: Partial<RelationshipUpsertEvent> = {},
): RelationshipUpsertEvent {
  return {
    spec_version: "sig/0.1",
    event_id: `e${sequence}`,
    event_type: "relationship.upsert",
    issuer: ISSUER,
    issued_at: day(sequence),
    sequence,
    relationship_id: "r1",
    subject: ALICE,
    visibility: "public",
    relationship_type: "employee",
    status: "active",
    roles: ["deploy"],
    valid_from: null,
    valid_until: null,
    ...changes,
  };
}

/**
 * Returns a valid revoke, issued and effective on the day of January with its
 * sequence.
 */
export function revoke(
  sequence: number,
  changes: Partial<RelationshipRevokeEvent> = {},
): RelationshipRevokeEvent {
  const id = changes.relationship_id ?? "r1";
  return {
    spec_version: "sig/0.1",
    event_id: `e${sequence}`,
    event_type: "relationship.revoke",
    issuer: ISSUER,
    issued_at: day(sequence),
    sequence,
    relationship_id: id,
    subject: ALICE,
    visibility: "public",
    revokes_relationship_id: id,
    reason_code: "employment_ended",
    effective_at: day(sequence),
    ...changes,
  };
}

/** Returns an event as the bytes of a payload. */
export function encode(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(
    typeof value === "string" ? value : JSON.stringify(value),
  );
}
