/** The question: may this subject do this, now or then? (PROTOCOL §5) @module */

import { SigError } from "./error.ts";
import { isDigits, resolveMoment, type TimeQuestion } from "./moment.ts";
import type { FeedState } from "./replay.ts";
import { meets, parseRequirement, type Requirement } from "./requirement.ts";
import {
  type EffectiveStatus,
  type Moment,
  type Standing,
  standingOf,
} from "./standing.ts";
import {
  compareInstants,
  formatInstant,
  instantOf,
  validInstant,
} from "./timestamp.ts";
import type { Warning } from "./types.ts";

/** Why an answer is deny: a closed list. */
export type DenyReason =
  | "no_relationship"
  | "relationship_type_missing"
  | "role_missing"
  | "relationship_id_missing"
  | "revoked"
  | "expired"
  | "not_yet_valid"
  | "requirements_split";

/** One reason of a deny. */
export interface Reason {
  /** Which. */
  readonly code: DenyReason;
  /** The relationship that it is about. */
  readonly relationship_id?: string;
  /** That relationship's last event. */
  readonly sequence?: number;
  /** The requirement that it is about. */
  readonly requirement?: Requirement;
}

/** A question about a subject. */
export interface Question extends TimeQuestion {
  /** Any non-empty string, usually a DID; compared exactly. */
  readonly subject: string;
  /** `key=value`, or `{ key: value }`; at least one. */
  readonly require: readonly (string | { readonly [key: string]: string })[];
  /** Show how each relationship was judged. */
  readonly explain?: boolean | undefined;
}

/** How one relationship was judged. */
export interface ExplainedRelationship {
  /** The relationship. */
  readonly relationship_id: string;
  /** Its type. */
  readonly relationship_type: string;
  /** Its roles. */
  readonly roles: readonly string[];
  /** Start of validity, or null. */
  readonly valid_from: string | null;
  /** End of validity, or null. */
  readonly valid_until: string | null;
  /** What it comes to at that instant. */
  readonly effective_status: EffectiveStatus;
  /** Its last event. */
  readonly last_sequence: number;
  /** Each requirement, and whether it is met. */
  readonly requirements: readonly (Requirement & { readonly met: boolean })[];
}

/** How a question was judged. */
export interface Explanation {
  /** The instant that was judged. */
  readonly judged_at: string;
  /** `now`: the feed's last word. `then`: what was true at the instant. */
  readonly tense: "now" | "then";
  /** Number of events that were looked at. */
  readonly events: number;
  /** Every relationship of the subject. */
  readonly relationships: readonly ExplainedRelationship[];
}

/** What core knows of an answer. */
export interface CheckResult {
  /** Allow or deny; "could not answer" is an error instead. */
  readonly decision: "allow" | "deny";
  /** The subject that was asked about. */
  readonly subject: string;
  /** The requirements, as understood. */
  readonly requirements: readonly Requirement[];
  /** The relationship that meets them, null on deny. */
  readonly matched_relationship_id: string | null;
  /** Sequence of the last event that was looked at. */
  readonly last_sequence: number;
  /** The issuer's DID. */
  readonly issuer: string;
  /** Why not; empty on allow. */
  readonly reasons: readonly Reason[];
  /** The clock when the answer was made. */
  readonly evaluated_at: string;
  /** As asked, or null. */
  readonly at: string | null;
  /** As asked, or null. */
  readonly as_of: number | string | null;
  /** When the answer may change with no further event, or null for never. */
  readonly not_after: string | null;
  /** On request only. */
  readonly explain?: Explanation;
}

/** How fresh a fetched state is. */
export interface Freshness {
  /** When the issuer last confirmed it. */
  readonly observed_at: string;
  /** Seconds from then to when the question was asked. */
  readonly age_seconds: number;
  /** How old it may be. */
  readonly max_age_seconds: number;
  /** Whether it is older than that. */
  readonly status: "fresh" | "stale";
}

/** Where the bytes came from: a proof of origin only when `https`. */
export type SourceKind = "https" | "local" | "inline";

/** How an answer relates to what was seen of the feed before. */
export type Continuity = "first_seen" | "consistent" | "unpinned";

/** An answer as it is given to people and programs. */
export interface CheckAnswer extends CheckResult {
  /** Where the bytes came from. */
  readonly source: SourceKind;
  /** Null for local and inline sources. */
  readonly freshness: Freshness | null;
  /** How it relates to what was seen before. */
  readonly continuity: Continuity;
  /** What was odd. */
  readonly warnings: readonly Warning[];
}

const MISSING = Object.freeze({
  relationship: "relationship_type_missing",
  role: "role_missing",
  relationship_id: "relationship_id_missing",
});

interface Judged extends Standing {
  readonly met: readonly boolean[];
}

/**
 * Answers whether **one** relationship of the subject meets **every**
 * requirement and is effective. (PROTOCOL §5)
 *
 * @example
 * ```ts
 * import { check, replay } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const { state } = replay([], { issuer: "did:web:acme.example" });
 * const answer = check(state, {
 *   subject: "did:web:alice.example",
 *   require: ["role=deploy"],
 *   now: new Date(0),
 * });
 * assertEquals(answer.decision, "deny");
 * assertEquals(answer.reasons, [{ code: "no_relationship" }]);
 * ```
 *
 * @throws {SigError} `requirements_empty`, `invalid_requirement`,
 * `invalid_identifier` for an empty subject, `invalid_request` for a malformed
 * time, `consistency_unavailable`.
 */
export function check(state: FeedState, question: Question): CheckResult {
  const requirements = parseRequirements(question.require);
  if (question.subject === "") {
    throw new SigError(
      "invalid_identifier",
      "Cannot check: the subject must not be empty",
      { context: { pointer: "/subject" } },
    );
  }
  const moment = resolveMoment(state, question);
  const judged = judge(state, question.subject, requirements, moment);
  const match = findMatch(judged);
  return {
    decision: match ? "allow" : "deny",
    subject: question.subject,
    requirements,
    matched_relationship_id: match?.state.relationship_id ?? null,
    last_sequence: moment.events,
    issuer: state.issuer,
    reasons: match ? [] : denyReasons(judged, requirements),
    evaluated_at: formatInstant(instantOf(question.now)),
    at: question.at ?? null,
    as_of: asAsked(question.asOf),
    not_after: isPast(question) ? null : notAfter(judged, match),
    ...(question.explain
      ? { explain: explain(judged, requirements, moment) }
      : {}),
  };
}

function parseRequirements(inputs: Question["require"]): Requirement[] {
  if (inputs.length === 0) {
    // An empty list would be met by every relationship.
    throw new SigError(
      "requirements_empty",
      "Cannot check: at least one requirement is needed",
      { context: { hint: "For example: relationship=employee, role=deploy." } },
    );
  }
  return inputs.map(parseRequirement);
}

/** A sequence is a number in the answer, also where a flag spelled it. */
function asAsked(asOf: number | string | undefined): number | string | null {
  return typeof asOf === "string" && isDigits(asOf)
    ? Number(asOf)
    : asOf ?? null;
}

/** A question about the past has an answer that time does not change. */
function isPast(question: Question): boolean {
  return question.at !== undefined || question.asOf !== undefined;
}

function judge(
  state: FeedState,
  subject: string,
  requirements: readonly Requirement[],
  moment: Moment,
): Judged[] {
  const judged: Judged[] = [];
  for (const id of state.history.relationshipsOf(subject)) {
    const standing = standingOf(state.history, id, moment);
    if (standing?.state.subject !== subject) continue;
    const met = requirements.map((each) => meets(standing.state, each));
    judged.push({ ...standing, met });
  }
  return judged;
}

function findMatch(judged: readonly Judged[]): Judged | undefined {
  const matches = judged.filter(({ status, met }) =>
    status === "active" && met.every(Boolean)
  );
  return matches.length > 0 ? matches.reduce(later) : undefined;
}

/** Of several, the one that the feed spoke of last is named. */
function later(a: Judged, b: Judged): Judged {
  return b.state.last_sequence > a.state.last_sequence ? b : a;
}

function denyReasons(
  judged: readonly Judged[],
  requirements: readonly Requirement[],
): Reason[] {
  if (judged.length === 0) return [{ code: "no_relationship" }];
  const meeting = judged.filter(({ met }) => met.every(Boolean));
  if (meeting.length > 0) return meeting.map((each) => statusReason(each));
  const reasons: Reason[] = [];
  for (const [i, requirement] of requirements.entries()) {
    const candidates = judged.filter(({ met }) => met[i]);
    if (candidates.some(({ status }) => status === "active")) continue;
    const last = candidates.length > 0 ? candidates.reduce(later) : undefined;
    reasons.push(
      last
        ? statusReason(last, requirement)
        : { code: MISSING[requirement.key], requirement },
    );
  }
  return reasons.length > 0 ? reasons : [{ code: "requirements_split" }];
}

function statusReason(judged: Judged, requirement?: Requirement): Reason {
  return {
    // Never called for an active one: that would be a match.
    code: judged.status as Exclude<EffectiveStatus, "active">,
    relationship_id: judged.state.relationship_id,
    sequence: judged.state.last_sequence,
    ...(requirement ? { requirement } : {}),
  };
}

/** Allow ends with its relationship; deny may end when a later one begins. */
function notAfter(
  judged: readonly Judged[],
  match: Judged | undefined,
): string | null {
  if (match) return match.state.valid_until;
  let first: string | null = null;
  for (const { state, status, met } of judged) {
    const from = state.valid_from;
    if (status !== "not_yet_valid" || from === null) continue;
    if (!met.every(Boolean)) continue;
    if (
      first === null ||
      compareInstants(validInstant(from), validInstant(first)) < 0
    ) first = from;
  }
  return first;
}

function explain(
  judged: readonly Judged[],
  requirements: readonly Requirement[],
  moment: Moment,
): Explanation {
  return {
    judged_at: formatInstant(moment.instant),
    tense: moment.tense,
    events: moment.events,
    relationships: judged.map(({ state, status, met }) => ({
      relationship_id: state.relationship_id,
      relationship_type: state.relationship_type,
      roles: state.roles,
      valid_from: state.valid_from,
      valid_until: state.valid_until,
      effective_status: status,
      last_sequence: state.last_sequence,
      requirements: requirements.map((each, i) => ({
        ...each,
        met: met[i]!,
      })),
    })),
  };
}
