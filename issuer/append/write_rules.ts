/**
 * The rules of a feed in their strictest form: what our own reader would refuse
 * or only warn about is not written (docs/protocol.md §3, §4).
 *
 * @module
 */

import {
  FeedRules,
  instantOf,
  isSigError,
  type Issue,
  type Limits,
  parseEventPayload,
  SigError,
  type SigEvent,
  type Warning,
  type WarningCode,
} from "@sig/core";
import type { IndexedRelationship } from "../index/feed_index.ts";

/** Where a new event would stand. */
export interface WritePlace {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the event before, 0 when there is none. */
  readonly lastSequence: number;
  /** The latest `issued_at` so far, null when there is none. */
  readonly latestIssuedAt: string | null;
  /** The event's relationship as it is, if it exists. */
  readonly relationship: IndexedRelationship | undefined;
  /** The issuer's clock. */
  readonly now: Date;
}

/** What is allowed. */
export interface WriteRules {
  /** The feed's `public_only`. */
  readonly publicOnly: boolean;
  /** Size limits. */
  readonly limits: Limits;
  /** Write even what a reader warns about. */
  readonly allowWarnings: boolean;
  /** The draft asks for a second revoke. */
  readonly amend: boolean;
}

/** An event that may be written. */
export interface WritableEvent {
  /** The event. */
  readonly event: SigEvent;
  /** What readers will warn about. */
  readonly warnings: readonly Warning[];
  /** Bytes of its payload. */
  readonly payloadBytes: number;
}

const encoder = new TextEncoder();

/**
 * Judges an event by reading it the way a consumer will.
 *
 * @throws {SigError} what core's `parseEventPayload` and `FeedRules` throw, and
 * `invalid_field` for whatever a reader warns about; all of it in
 * `context.errors`.
 */
export function requireWritable(
  event: Readonly<Record<string, unknown>>,
  place: WritePlace,
  rules: WriteRules,
): WritableEvent {
  const payload = encoder.encode(JSON.stringify(event));
  const written = readBack(payload, rules);
  const reader = standIn(written, place, rules.limits);
  const { warnings } = reader.accept(written);
  const writable = {
    event: written,
    warnings,
    payloadBytes: payload.length,
  };
  if (rules.allowWarnings) return writable;
  const unwanted = warnings
    .filter(({ code }) => !(rules.amend && code === "revoked_again"));
  const issues = unwanted.map(toIssue);
  const [first] = issues;
  if (first === undefined) return writable;
  throw new SigError(
    "invalid_field",
    `Cannot append: ${issues.map(({ detail }) => detail).join("; ")}`,
    {
      context: {
        pointer: first.pointer,
        ...(issues.length > 1 ? { errors: issues } : {}),
        hint: hintAbout(unwanted[0]?.code),
      },
    },
  );
}

function hintAbout(code: WarningCode | undefined): string {
  if (code === "subject_not_did") {
    return "Write the subject as a DID, such as did:web:alice.example.";
  }
  const warned = "Every reader would warn about this event.";
  return code === "effective_at_future"
    ? `${warned} An end that lies ahead is the valid_until of an upsert (sig set --valid-until).`
    : warned;
}

/** Also finds what only JSON shows: lone surrogates, depth, huge integers. */
function readBack(payload: Uint8Array, rules: WriteRules): SigEvent {
  try {
    const { publicOnly } = rules;
    // Unknown event types are refused by default.
    return parseEventPayload(payload, { publicOnly }) as SigEvent;
  } catch (error) {
    if (!isSigError(error, "invalid_envelope")) throw error;
    throw new SigError("invalid_field", error, {
      context: error.context,
      cause: error,
    });
  }
}

/**
 * A reader that has seen no event but knows as much as if it had: where the
 * feed stands, how late it is, and the event's relationship. So the rules
 * between events stay in core alone, and cost the same after any number of
 * events.
 */
function standIn(
  event: SigEvent,
  place: WritePlace,
  limits: Limits,
): FeedRules {
  const { issuer, lastSequence, latestIssuedAt, relationship } = place;
  const rules = new FeedRules({ issuer, limits, now: instantOf(place.now) });
  rules.resume(lastSequence);
  if (latestIssuedAt === null) return rules;
  const before = {
    spec_version: event.spec_version,
    issuer,
    issued_at: latestIssuedAt,
    // Any other relationship will do where this one is new.
    relationship_id: relationship?.relationship_id ??
      `not ${event.relationship_id}`,
    subject: relationship?.subject ?? "did:example:other",
    visibility: "public",
  } as const;
  rules.resume(lastSequence - 1);
  rules.accept({
    ...before,
    event_type: "relationship.upsert",
    event_id: `not ${event.event_id}`,
    sequence: lastSequence,
    relationship_type: "other",
    status: "active",
    roles: [],
    valid_from: null,
    valid_until: null,
  });
  if (relationship?.status !== "revoked") return rules;
  rules.resume(lastSequence - 1);
  rules.accept({
    ...before,
    event_type: "relationship.revoke",
    event_id: `nor ${event.event_id}`,
    sequence: lastSequence,
    revokes_relationship_id: before.relationship_id,
    reason_code: "other",
    effective_at: latestIssuedAt,
  });
  return rules;
}

const POINTERS: { readonly [C in WarningCode]?: string } = {
  subject_not_did: "/subject",
  subject_changed: "/subject",
  issued_at_back: "/issued_at",
  issued_at_future: "/issued_at",
  effective_at_future: "/effective_at",
  revoked_again: "/relationship_id",
  revoke_without_upsert: "/relationship_id",
};

function toIssue(warning: Warning & { readonly pointer?: string }): Issue {
  return {
    pointer: warning.pointer ?? POINTERS[warning.code] ?? "",
    code: "invalid_field",
    detail: warning.detail,
  };
}
