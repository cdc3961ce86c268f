/** The events of the vectors. @module */

import type { JsonObject } from "./bytes.ts";
import { ISSUER } from "./documents.ts";

/** The subject of most events. */
export const ALICE = "did:web:alice.example";
/** Another subject. */
export const BOB = "did:web:bob.example";

/**
 * Returns `2026-01-<day>T09:00:00Z`, the `issued_at` of the event with that
 * sequence.
 */
export function issuedOn(day: number): string {
  return `2026-01-${String(day).padStart(2, "0")}T09:00:00Z`;
}

/** Returns a valid upsert of relationship `rel-1`, with the given changes. */
export function upsert(sequence: number, changes: JsonObject = {}): JsonObject {
  return {
    spec_version: "sig/0.1",
    event_id: `event-${sequence}`,
    event_type: "relationship.upsert",
    issuer: ISSUER,
    issued_at: issuedOn(sequence),
    sequence,
    relationship_id: "rel-1",
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

/** Returns a valid revoke of relationship `rel-1`, with the given changes. */
export function revoke(sequence: number, changes: JsonObject = {}): JsonObject {
  const id = changes.relationship_id ?? "rel-1";
  return {
    spec_version: "sig/0.1",
    event_id: `event-${sequence}`,
    event_type: "relationship.revoke",
    issuer: ISSUER,
    issued_at: issuedOn(sequence),
    sequence,
    relationship_id: id,
    subject: ALICE,
    visibility: "public",
    revokes_relationship_id: id,
    reason_code: "employment_ended",
    effective_at: issuedOn(sequence),
    ...changes,
  };
}
