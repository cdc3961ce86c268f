/** Builds events from drafts. @module */

import { SPEC_VERSION } from "@sig/core";
import type { DraftMembers } from "./draft.ts";

/** Values that the issuer adds to a draft. */
interface EventPlace {
  readonly issuer: string;
  readonly sequence: number;
  /** The current time, RFC 3339 UTC. */
  readonly now: string;
  readonly newId: () => string;
  /** The relationship's subject, if the relationship exists. */
  readonly subject: string | undefined;
}

/**
 * Completes a draft. Values are not validated here, so a wrong value is kept;
 * JSON omits members that are undefined. The order of the members is that of
 * docs/protocol.md §3, because it determines the signed bytes.
 */
export function buildEvent(
  draft: DraftMembers,
  place: EventPlace,
): Readonly<Record<string, unknown>> {
  const given = (name: string, otherwise: () => unknown) =>
    Object.hasOwn(draft, name) ? draft[name] : otherwise();
  const isRevoke = draft.event_type === "relationship.revoke";
  const eventId = given("event_id", place.newId);
  const issuedAt = given("issued_at", () => place.now);
  const relationshipId = given(
    "relationship_id",
    () => isRevoke ? undefined : place.newId(),
  );
  return {
    spec_version: SPEC_VERSION,
    event_id: eventId,
    event_type: draft.event_type,
    issuer: place.issuer,
    issued_at: issuedAt,
    sequence: place.sequence,
    relationship_id: relationshipId,
    subject: given("subject", () => isRevoke ? place.subject : undefined),
    visibility: given("visibility", () => "public"),
    ...(isRevoke
      ? {
        revokes_relationship_id: relationshipId,
        reason_code: draft.reason_code,
        effective_at: given("effective_at", () => issuedAt),
      }
      : {
        relationship_type: draft.relationship_type,
        status: "active",
        roles: given("roles", () => []),
        valid_from: given("valid_from", () => null),
        valid_until: given("valid_until", () => null),
        display: draft.display ?? undefined,
      }),
    // Null means absent for these (docs/protocol.md §3), and absent is shorter.
    reason: draft.reason ?? undefined,
    metadata: draft.metadata ?? undefined,
  };
}
