/**
 * Doubts before a change (possible mistakes) and notices about its effects.
 *
 * @module
 */

import {
  instantOf,
  type OpenObject,
  parseTimestamp,
  type RelationshipUpsertEvent,
} from "@sig/core";
import { type Period, validityAt } from "@sig/core/internal";
import type {
  AppendedEvent,
  CurrentRelationship,
  Issuer,
  PublishedState,
} from "@sig/issuer";
import { type AppendCall, canAsk } from "./append_proposal.ts";
import { KnownNames } from "@sig/issuer/people";

/** Maximum number of relationships, or of doubts, that are listed. */
export const MOST_NAMED = 10;

/** Bytes at the feed's end with the names to compare: about 5,000 events. */
const RECENT_BYTES = 4 * 1024 * 1024;

/** Collects the names in the latest upsert of each relationship. */
export function namesOf({ relationships }: PublishedState): KnownNames {
  return new KnownNames(
    Iterator.from(relationships.values()).map(({ upsert }) => upsert),
  );
}

/** Compares an upsert draft with the current state of the feed. */
export async function reviewUpsert(
  call: AppendCall,
  issuer: Issuer,
  draft: OpenObject,
) {
  const now = call.io.now();
  const text = (value: unknown) =>
    typeof value === "string" ? value : undefined;
  const { ended, last_sequence, recent, relationships } = await issuer.current({
    relationship_id: text(draft.relationship_id),
    subject: text(draft.subject),
    most: MOST_NAMED,
    recentBytes: RECENT_BYTES,
  });
  const before = relationships.find(({ relationship_id }) =>
    relationship_id === draft.relationship_id
  );
  const doubts = [
    ...doubtsAbout(draft, now, new KnownNames(recent)),
    ...await doubtsAboutLink(issuer, draft),
  ];
  if (before?.upsert === null) {
    doubts.push(
      `relationship ${before.relationship_id} is revoked (seq=${before.last_sequence}), and this makes it active again`,
    );
  }
  if (ended !== undefined) {
    const { effective_at, reason_code, relationship_id, sequence } = ended;
    doubts.push(
      `${draft.subject} was revoked at ${effective_at} (${reason_code}, ${relationship_id}, seq=${sequence}) and has no active relationship`,
    );
  }
  return {
    /** Probable mistakes, to confirm before the append. */
    doubts,
    /**
     * The end of the feed that was compared, if a question can stay open: an
     * ending that is published meanwhile must not be undone.
     */
    ifLastSequence: canAsk(call) ? last_sequence : undefined,
    /** Returns notices for the operator after the append. */
    noticesAfter: ({ repeated }: AppendedEvent): readonly string[] =>
      repeated ? [] : noticesAfterUpsert(draft, relationships, before, now),
  };
}

/**
 * Finds probable mistakes in a draft, to confirm before anything is signed.
 *
 * @param wanted Members of a draft. They are not validated yet.
 */
export function doubtsAbout(
  { roles, subject, valid_until }: OpenObject,
  now: Date,
  names = new KnownNames(),
): readonly string[] {
  const doubts = typeof subject === "string"
    ? [...names.doubtsAboutSubject(subject)]
    : [];
  for (const role of textsOf(roles)) {
    const several = "several are given as --role A --role B";
    doubts.push(...names.doubtsAboutRole(role, several));
  }
  const isTime = parseTimestamp(valid_until) !== undefined;
  if (isTime && hasEnded({ valid_until: `${valid_until}` }, now)) {
    doubts.push(
      `it already ended, at ${valid_until}: every check will deny it`,
    );
  }
  return doubts;
}

/** Finds why a `same_person_as` would be ignored (docs/protocol.md §4.1). */
async function doubtsAboutLink(
  issuer: Issuer,
  { metadata, subject }: OpenObject,
): Promise<readonly string[]> {
  const { same_person_as: person } = (metadata ?? {}) as OpenObject;
  if (typeof person !== "string" || typeof subject !== "string") return [];
  const { canLink, history, personOf } = await issuer.published();
  if (!history.firsts.has(person)) {
    return [`same_person_as names ${person}, which no event is about`];
  }
  if (
    canLink(subject, person) ||
    personOf(subject) === personOf(person)
  ) return [];
  return [
    history.firsts.has(subject)
      ? `${subject} has events already, so that its same_person_as is ignored`
      : `same_person_as is ignored: another key names ${subject} already, or ${person} is eight links from its root`,
  ];
}

function noticesAfterUpsert(
  draft: OpenObject,
  known: readonly CurrentRelationship[],
  before: CurrentRelationship | undefined,
  now: Date,
): readonly string[] {
  const notices: string[] = [];
  const dropped = before?.upsert ? droppedFrom(before.upsert, draft) : [];
  if (dropped.length > 0) {
    notices.push(
      `this replaced ${draft.relationship_id} and dropped ${
        dropped.join(", ")
      }; sig set keeps what is not named`,
    );
  }
  const others = activeOf(known, now).filter((upsert) =>
    upsert.relationship_id !== draft.relationship_id &&
    upsert.relationship_type === draft.relationship_type
  );
  if (others.length > 0) {
    notices.push(
      `the subject has another active relationship of this type (${
        others.map(({ relationship_id }) => relationship_id).join(", ")
      }): revoking one leaves the rest; sig offboard ends them all`,
    );
  }
  return notices;
}

/** Returns a notice of the subject's remaining active relationships. */
export function stillActive(
  known: readonly CurrentRelationship[],
  now: Date,
): readonly string[] {
  const active = activeOf(known, now).map((upsert) => {
    const words = [upsert.relationship_type, ...upsert.roles];
    return `${upsert.relationship_id} (${words.join(", ")})`;
  });
  if (active.length === 0) return [];
  return [
    `the subject still has active relationships: ${
      active.join("; ")
    }; sig offboard ends them all`,
  ];
}

/** Returns the relationships that are neither revoked nor expired. */
function activeOf(
  known: readonly CurrentRelationship[],
  now: Date,
): readonly RelationshipUpsertEvent[] {
  return known.flatMap(({ upsert }) =>
    upsert === null || hasEnded(upsert, now) ? [] : [upsert]
  );
}

function hasEnded(period: Period, now: Date): boolean {
  return validityAt(period, instantOf(now)) === "expired";
}

function droppedFrom(
  before: RelationshipUpsertEvent,
  wanted: OpenObject,
): readonly string[] {
  const kept = new Set(textsOf(wanted.roles));
  const roles = before.roles.filter((role) => !kept.has(role));
  const shown = (wanted.display ?? {}) as OpenObject;
  const members = (["valid_from", "valid_until", "reason", "metadata"] as const)
    .map((name) => [name, before[name], wanted[name]] as const);
  const display = Object.entries(before.display ?? {})
    .map(([name, value]) => [name, value, shown[name]] as const);
  return [
    ...roles.map((role) => `role ${role}`),
    ...[...members, ...display]
      .filter(([, was, is]) => (was ?? null) !== null && (is ?? null) === null)
      .map(([name, was]) =>
        `${name} ${typeof was === "string" ? was : JSON.stringify(was)}`
      ),
  ];
}

function textsOf(roles: unknown): readonly string[] {
  return Array.isArray(roles)
    ? roles.filter((role) => typeof role === "string")
    : [];
}
