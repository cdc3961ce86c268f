/** What a caller says of an event; the issuer says the rest. @module */

import type {
  Display,
  OpenObject,
  ReasonCode,
  RelationshipType,
  Visibility,
} from "@sig/core";

/** What both kinds of draft may say. Everything left out is generated. */
export interface DraftBase {
  /** A ULID unless told. Given again, the append is repeated, not doubled. */
  readonly event_id?: string;
  /** Now unless told: RFC 3339 UTC. */
  readonly issued_at?: string;
  /** `public` unless told. */
  readonly visibility?: Visibility;
  /** For people, at most 2,000 characters. */
  readonly reason?: string | null;
  /** The issuer's own members, at most 16 KiB as JSON. */
  readonly metadata?: OpenObject | null;
}

/** Draft of a `relationship.upsert` (PROTOCOL §3). */
export interface UpsertDraft extends DraftBase {
  /** Always `relationship.upsert`. */
  readonly event_type: "relationship.upsert";
  /** A DID. An existing relationship keeps its subject. */
  readonly subject: string;
  /** What kind of relationship. */
  readonly relationship_type: RelationshipType;
  /** A new ULID unless told; told again, the relationship is replaced. */
  readonly relationship_id?: string;
  /** None unless told; at most 64 of 128 characters. */
  readonly roles?: readonly string[];
  /** Start of validity (inclusive), or null. */
  readonly valid_from?: string | null;
  /** End of validity (exclusive), or null. */
  readonly valid_until?: string | null;
  /** For people. */
  readonly display?: Display | null;
}

/** Draft of a `relationship.revoke` (PROTOCOL §3). */
export interface RevokeDraft extends DraftBase {
  /** Always `relationship.revoke`. */
  readonly event_type: "relationship.revoke";
  /** The relationship that ends. */
  readonly relationship_id: string;
  /** Why. */
  readonly reason_code: ReasonCode;
  /** The relationship's, and taken from it unless told. */
  readonly subject?: string;
  /** `issued_at` unless told; at most 60 s after it. */
  readonly effective_at?: string;
  /** Revoke once more, to correct reason or time of the first revoke. */
  readonly amend?: boolean;
}

/** A draft of an event. */
export type EventDraft = UpsertDraft | RevokeDraft;
