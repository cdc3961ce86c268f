/**
 * The events that bring readers of v0.1 to the state after a recovery
 * (docs/protocol.md §14.5).
 *
 * @module
 */

import {
  isRevoke,
  isUpsert,
  type RelationshipRevokeEvent,
  type RelationshipState,
  type RelationshipUpsertEvent,
  type Replay,
  type SigEvent,
} from "@sig/core";
import { encodeBase64Url } from "@sig/jose/internal";
import { sha256 } from "@sig/jose/proofs";
import type { EventDraft } from "../append/draft.ts";

/** An event of the feed, and the key that signed it. */
export interface SignedEvent {
  /** The event. */
  readonly event: SigEvent;
  /** The key. */
  readonly kid: string;
}

/** A draft, and what its `event_id` is derived from. */
export interface NamedDraft {
  /** The draft, without an `event_id`. */
  readonly draft: EventDraft;
  /** The text from which its `event_id` is derived. */
  readonly name: string;
}

/**
 * Returns what restores each relationship that a void event touched, if its
 * state differs for readers of v0.1.
 *
 * @param plain An empty replay, for the state of those readers.
 */
export function correctiveDrafts(
  plain: Replay,
  events: readonly SignedEvent[],
  isVoid: (each: SignedEvent) => boolean,
): readonly NamedDraft[] {
  const upserts = new Map<string, RelationshipUpsertEvent>();
  const revokes = new Map<string, RelationshipRevokeEvent>();
  const first = new Map<string, SigEvent>();
  for (const each of events) {
    const { event } = each;
    const id = event.relationship_id;
    plain.apply(event);
    if (isVoid(each)) {
      if (!first.has(id) && (isUpsert(event) || upserts.has(id))) {
        first.set(id, event);
      }
    } else if (isUpsert(event)) {
      upserts.set(id, event);
      revokes.delete(id);
    } else if (isRevoke(event) && upserts.has(id)) revokes.set(id, event);
  }
  const { by_relationship_id: states } = plain.state();
  return [...first].flatMap(([id, cause]) =>
    restore(states.get(id)!, upserts.get(id), revokes.get(id), cause)
      .map((draft) => ({ draft, name: `${draft.event_type}\n${id}` }))
  );
}

function restore(
  plain: RelationshipState,
  upsert: RelationshipUpsertEvent | undefined,
  revoke: RelationshipRevokeEvent | undefined,
  cause: SigEvent,
): readonly EventDraft[] {
  if (upsert === undefined) {
    if (plain.status === "revoked") return [];
    return [{
      event_type: "relationship.revoke",
      relationship_id: plain.relationship_id,
      subject: plain.subject,
      reason_code: "error_correction",
      effective_at: cause.issued_at,
      amend: true,
    }];
  }
  const isChanged = plain.subject !== upsert.subject ||
    plain.relationship_type !== upsert.relationship_type ||
    JSON.stringify(plain.roles) !== JSON.stringify(upsert.roles) ||
    plain.valid_from !== upsert.valid_from ||
    plain.valid_until !== upsert.valid_until;
  const { status, revoked_effective_at, revoked_reason_code } = plain;
  if (revoke === undefined) {
    return isChanged || status === "revoked" ? [draftOf(upsert)] : [];
  }
  const isSame = status === "revoked" &&
    revoked_effective_at === revoke.effective_at &&
    revoked_reason_code === revoke.reason_code;
  if (isSame && !isChanged) return [];
  return [...isChanged ? [draftOf(upsert)] : [], draftOf(revoke)];
}

/** Returns a draft with the content of an event. */
export function draftOf(event: SigEvent): EventDraft {
  const { relationship_id, subject, visibility, reason, metadata } = event;
  const common = {
    relationship_id,
    subject,
    visibility,
    ...(reason === undefined ? {} : { reason }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  if (isRevoke(event)) {
    const { event_type, reason_code, effective_at } = event;
    return { event_type, ...common, reason_code, effective_at, amend: true };
  }
  const { event_type, relationship_type, roles } = event;
  const { valid_from, valid_until, display } = event;
  return {
    event_type,
    ...common,
    relationship_type,
    roles,
    valid_from,
    valid_until,
    ...(display === undefined ? {} : { display }),
  };
}

/**
 * Completes drafts: the `event_id` depends on the statement and on what is
 * restored, so that a repeated recovery appends nothing twice. A revoke counts
 * at the latest from now on.
 *
 * @param statement The text of the statement.
 */
export function nameDrafts(
  drafts: readonly NamedDraft[],
  statement: string,
  now: string,
): readonly EventDraft[] {
  return drafts.map(({ draft, name }) => {
    const bytes = new TextEncoder().encode(`${statement}\n${name}`);
    const event_id = `recovery-${encodeBase64Url(sha256(bytes))}`;
    if (draft.event_type !== "relationship.revoke") {
      return { ...draft, event_id };
    }
    const { effective_at = now } = draft;
    const isAhead = effective_at > now;
    return { ...draft, event_id, ...isAhead && { effective_at: now } };
  });
}
