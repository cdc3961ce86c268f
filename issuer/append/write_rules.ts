/**
 * Applies the rules of a feed in their strictest form: an event that a reader
 * would refuse or warn about is not written (docs/protocol.md §3, §4).
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
import type { EventIndex } from "../index/feed_index.ts";
import { refused } from "./draft.ts";
import { rulesAfter } from "./verify_feed.ts";

/** The rules that a new event must meet. */
export interface WriteRules extends LineRules {
  /** The current time, the same for all drafts of a batch. */
  readonly now: Date;
  /** Write events for which a reader would only warn. */
  readonly allowWarnings: boolean;
}

export interface WritableEvent {
  readonly event: SigEvent;
  /** Warnings that readers will report. */
  readonly warnings: readonly Warning[];
}

const encoder = new TextEncoder();

/**
 * Checks the event that is to follow the index's head by reading it as a
 * consumer does.
 *
 * @throws {SigError} as core's `parseEventPayload` and `FeedRules`, and
 * `invalid_field` for anything that a reader warns about; all faults are in
 * `context.errors`.
 */
export function requireWritable(
  event: Readonly<Record<string, unknown>>,
  index: EventIndex,
  { amend, ...rules }: WriteRules & {
    /** Whether the draft asks for a second revocation. */
    readonly amend: boolean;
  },
): WritableEvent {
  const { issuer, limits } = rules;
  const payload = encoder.encode(JSON.stringify(event));
  const written = readBack(payload, rules.publicOnly);
  const now = instantOf(rules.now);
  const { warnings } = rulesAfter(index, { issuer, limits, now })
    .accept(written);
  const refusedWarnings = rules.allowWarnings
    ? []
    : warnings.filter(({ code }) => !(amend && code === "revoked_again"));
  const issues = refusedWarnings.map(toIssue);
  const [first] = issues;
  if (first === undefined) return { event: written, warnings };
  const why = issues.map(({ detail }) => detail).join("; ");
  throw refused("invalid_field", why, {
    pointer: first.pointer,
    ...(issues.length > 1 && { errors: issues }),
    hint: hintAbout(refusedWarnings[0]?.code),
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

/** Also finds faults of the JSON: lone surrogates, depth, huge integers. */
function readBack(payload: Uint8Array, publicOnly: boolean): SigEvent {
  try {
    // Unknown event types are refused by default.
    return parseEventPayload(payload, { publicOnly }) as SigEvent;
  } catch (error) {
    if (!isSigError(error, "invalid_envelope")) throw error;
    throw new SigError("invalid_field", {
      action: error.action,
      reason: error.reason,
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
