/** Drafts: what a caller says of an event, and reading it strictly. @module */

import {
  type Display,
  type OpenObject,
  type ReasonCode,
  type RelationshipType,
  SigError,
  type Visibility,
} from "@sig/core";
import { escapePointer, isObject, quote } from "@sig/core/internal";

/** What both kinds of draft may say. Everything left out is generated. */
export interface DraftBase {
  /** Given again, the append is repeated, not doubled (default: a new ULID). */
  readonly event_id?: string;
  /** RFC 3339 UTC (default: now). */
  readonly issued_at?: string;
  /** Who may read it (default: `public`). */
  readonly visibility?: Visibility;
  /** For people, at most 2,000 characters. */
  readonly reason?: string | null;
  /** The issuer's own members, at most 16 KiB as JSON. */
  readonly metadata?: OpenObject | null;
}

/** Draft of a `relationship.upsert` (docs/protocol.md §3). */
export interface UpsertDraft extends DraftBase {
  /** Always `relationship.upsert`. */
  readonly event_type: "relationship.upsert";
  /** A DID. An existing relationship keeps its subject. */
  readonly subject: string;
  /** What kind of relationship. */
  readonly relationship_type: RelationshipType;
  /** An existing one is replaced (default: a new ULID). */
  readonly relationship_id?: string;
  /** At most 64 of 128 characters (default: none). */
  readonly roles?: readonly string[];
  /** Start of validity (inclusive), or null. */
  readonly valid_from?: string | null;
  /** End of validity (exclusive), or null. */
  readonly valid_until?: string | null;
  /** For people. */
  readonly display?: Display | null;
}

/** Draft of a `relationship.revoke` (docs/protocol.md §3). */
export interface RevokeDraft extends DraftBase {
  /** Always `relationship.revoke`. */
  readonly event_type: "relationship.revoke";
  /** The relationship that ends. */
  readonly relationship_id: string;
  /** Why. */
  readonly reason_code: ReasonCode;
  /** Must be the relationship's (default: taken from it). */
  readonly subject?: string;
  /** At most 60 s after `issued_at` (default: `issued_at`). */
  readonly effective_at?: string;
  /** Revoke once more, to correct reason or time of the first revoke. */
  readonly amend?: boolean;
}

/** A draft of an event. */
export type EventDraft = UpsertDraft | RevokeDraft;

/** A draft whose members nobody changes any more; their values are unjudged. */
export type DraftMembers = {
  readonly [member: string]: unknown;
  readonly event_type: "relationship.upsert" | "relationship.revoke";
};

const SHARED_MEMBERS = {
  event_type: true,
  event_id: true,
  issued_at: true,
  relationship_id: true,
  subject: true,
  visibility: true,
  reason: true,
  metadata: true,
} as const;

// Tied to the types, so that a member can't be forgotten in one place.
const UPSERT_MEMBERS: { readonly [M in keyof Required<UpsertDraft>]: true } = {
  ...SHARED_MEMBERS,
  relationship_type: true,
  roles: true,
  valid_from: true,
  valid_until: true,
  display: true,
};

const REVOKE_MEMBERS: { readonly [M in keyof Required<RevokeDraft>]: true } = {
  ...SHARED_MEMBERS,
  reason_code: true,
  effective_at: true,
  amend: true,
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
