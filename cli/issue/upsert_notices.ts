/** What an upsert does beyond what its words say. @module */

import {
  compareInstants,
  instantOf,
  parseTimestamp,
  type RelationshipUpsertEvent,
} from "@sig/core";
import type { CurrentRelationship } from "@sig/issuer";

/** Active relationships of one subject that are named at the most. */
export const MOST_NAMED = 10;

/** The members of an upsert's draft that are looked at; flags are only text. */
export interface WantedUpsert {
  readonly relationship_id?: unknown;
  readonly relationship_type?: unknown;
  readonly roles?: unknown;
  readonly valid_from?: unknown;
  readonly valid_until?: unknown;
  readonly display?: unknown;
  readonly reason?: unknown;
  readonly metadata?: unknown;
}

/** What is hardly ever meant: to be asked about before anything is signed. */
export function doubtsAbout(
  wanted: WantedUpsert,
  known: readonly CurrentRelationship[],
  now: Date,
): readonly string[] {
  const doubts: string[] = [];
  for (const role of textsOf(wanted.roles)) {
    const doubt = doubtAboutRole(
      role,
      "several are given as --role A --role B",
    );
    if (doubt !== undefined) doubts.push(doubt);
  }
  if (hasEnded(wanted.valid_until, now)) {
    doubts.push(
      `it ended already, at ${wanted.valid_until}: every check will deny it`,
    );
  }
  const before = published(wanted, known);
  if (before?.upsert === null) {
    doubts.push(
      `relationship ${before.relationship_id} is revoked (seq=${before.last_sequence}), and this makes it active again`,
    );
  }
  return doubts;
}

/**
 * A role that looks like several: the commas and semicolons that separate them
 * elsewhere make one role here, which nobody will ever ask for.
 */
export function doubtAboutRole(
  role: string,
  several: string,
): string | undefined {
  const mark = role.includes(",")
    ? "comma"
    : role.includes(";")
    ? "semicolon"
    : undefined;
  if (mark === undefined) return undefined;
  return `${JSON.stringify(role)} is one role with a ${mark} in it; ${several}`;
}

/** What the operator should know of an upsert that was appended. */
export function consequencesOf(
  wanted: WantedUpsert,
  known: readonly CurrentRelationship[],
  now: Date,
): readonly string[] {
  const notices: string[] = [];
  const before = published(wanted, known)?.upsert;
  if (before) {
    const dropped = droppedFrom(before, wanted);
    if (dropped.length > 0) {
      notices.push(
        `this replaced ${before.relationship_id} and dropped ${
          dropped.join(", ")
        }; sig set keeps what is not named`,
      );
    }
  }
  const others = activeOf(known, now).filter((upsert) =>
    upsert.relationship_id !== wanted.relationship_id &&
    upsert.relationship_type === wanted.relationship_type
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

/** What stays active of a subject, one of whose relationships has ended. */
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

/** Those that allow something, now or one day: what has expired never will. */
function activeOf(
  known: readonly CurrentRelationship[],
  now: Date,
): readonly RelationshipUpsertEvent[] {
  return known.flatMap(({ upsert }) =>
    upsert === null || hasEnded(upsert.valid_until, now) ? [] : [upsert]
  );
}

function hasEnded(validUntil: unknown, now: Date): boolean {
  const end = parseTimestamp(validUntil);
  return end !== undefined && compareInstants(end, instantOf(now)) <= 0;
}

function published(
  { relationship_id: id }: WantedUpsert,
  known: readonly CurrentRelationship[],
): CurrentRelationship | undefined {
  return known.find(({ relationship_id }) => relationship_id === id);
}

function droppedFrom(
  before: RelationshipUpsertEvent,
  wanted: WantedUpsert,
): readonly string[] {
  const kept = new Set(textsOf(wanted.roles));
  const roles = before.roles.filter((role) => !kept.has(role));
  const shown = (wanted.display ?? {}) as { readonly [name: string]: unknown };
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
