/**
 * The rules of a feed in their strictest form: what our own reader would refuse
 * or only warn about is not written (docs/protocol.md §3, §4).
 *
 * @module
 */

import {
  instantOf,
  isSigError,
  type Issue,
  parseEventPayload,
  SigError,
  type SigEvent,
  type Warning,
  type WarningCode,
} from "@sig/core";
import type { LineRules } from "../documents/documents.ts";
import type { FeedIndex } from "../index/feed_index.ts";
import { refused } from "./draft.ts";
import { rulesAfter } from "./verify_feed.ts";

/** The rules that a new event must meet. */
export interface WriteRules extends LineRules {
  /** The issuer's clock: one reading for all drafts. */
  readonly now: Date;
  /** Write even what a reader warns about. */
  readonly allowWarnings: boolean;
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
 * Judges the event that is to follow the index's head, by reading it the way a
 * consumer will.
 *
 * @throws {SigError} what core's `parseEventPayload` and `FeedRules` throw, and
 * `invalid_field` for whatever a reader warns about; all of it in
 * `context.errors`.
 */
export function requireWritable(
  event: Readonly<Record<string, unknown>>,
  index: FeedIndex,
  { amend, ...rules }: WriteRules & {
    /** The draft asks for a second revoke. */
    readonly amend: boolean;
  },
): WritableEvent {
  const { issuer, limits } = rules;
  const payload = encoder.encode(JSON.stringify(event));
  const written = readBack(payload, rules.publicOnly);
  const now = instantOf(rules.now);
  const { warnings } = rulesAfter(index, { issuer, limits, now })
    .accept(written);
  const unwanted = rules.allowWarnings
    ? []
    : warnings.filter(({ code }) => !(amend && code === "revoked_again"));
  const issues = unwanted.map(toIssue);
  const [first] = issues;
  if (first === undefined) {
    return { event: written, warnings, payloadBytes: payload.length };
  }
  const why = issues.map(({ detail }) => detail).join("; ");
  throw refused("invalid_field", why, {
    pointer: first.pointer,
    ...(issues.length > 1 && { errors: issues }),
    hint: hintAbout(unwanted[0]?.code),
  });
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
function readBack(payload: Uint8Array, publicOnly: boolean): SigEvent {
  try {
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
