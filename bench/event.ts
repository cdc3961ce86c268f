/** An event of an ordinary size. @module */

import type { RelationshipUpsertEvent } from "@sig/core";

/** The upsert of that sequence: each is about another person. */
export function benchEvent(
  issuer: string,
  sequence: number,
): RelationshipUpsertEvent {
  const id = String(sequence).padStart(26, "0");
  return {
    spec_version: "sig/0.1",
    event_id: id,
    event_type: "relationship.upsert",
    issuer,
    issued_at: "2026-01-05T09:00:00Z",
    sequence,
    relationship_id: `relationship-${id}`,
    subject: `did:web:person-${sequence}.example`,
    visibility: "public",
    relationship_type: "employee",
    status: "active",
    roles: ["deploy", "review"],
    valid_from: "2026-01-01T00:00:00Z",
    valid_until: null,
    display: { title: "Site reliability engineer", department: "Platform" },
  };
}
