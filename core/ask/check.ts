/**
 * The question: may this subject do this, now or then? (PROTOCOL §5)
 *
 * Long because a third of it are the documented types of the question and its
 * answer; the steps to the answer are read best in one place.
 *
 * @module
 */

import { closedList } from "../errors/closed_list.ts";
import { resolveMoment, timeAsAsked } from "./moment.ts";
import {
  type ParsedQuestion,
  parseQuestion,
  type Question,
} from "./question.ts";
import type { FeedState } from "../replay/replay.ts";
import type { Requirement } from "./requirement.ts";
import { RequirementIndex } from "./requirement_index.ts";
import {
  type EffectiveStatus,
  type Moment,
  type Standing,
  standingOf,
} from "../replay/standing.ts";
import { runSteps, STEP_UNITS, type Steps } from "../text/steps.ts";
import {
  compareInstants,
  formatInstant,
  instantOf,
  validInstant,
} from "../text/timestamp.ts";
import type { Warning } from "../event/types.ts";

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

/** Every reason of a deny. */
export const DENY_REASONS: readonly DenyReason[] = closedList<DenyReason>({
  no_relationship: true,
  relationship_type_missing: true,
  role_missing: true,
  relationship_id_missing: true,
  revoked: true,
  expired: true,
  not_yet_valid: true,
  requirements_split: true,
});

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

/** How one relationship was judged. */
export interface ExplainedRelationship {
  /** Unique within its issuer only. */
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
  /** Whether relationships were left out, to bound the answer. */
  readonly truncated?: true;
  /** How many there are; told when some were left out. */
  readonly relationship_count?: number;
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
  /** How many reasons are left out, where some are, to bound the answer. */
  readonly reasons_left_out?: number;
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

/** How much an answer says at most; it rests upon everything all the same. */
export interface AnswerLimits {
  /** Relationships that are explained; all unless told. */
  readonly maxExplained?: number;
  /**
   * Verdicts of an explanation, one a relationship and requirement, but those of
   * one relationship at least; any number unless told.
   */
  readonly maxVerdicts?: number;
  /** Reasons of a deny; all unless told. */
  readonly maxReasons?: number;
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
  const { now } = question;
  return runSteps(checkSteps(state, parseQuestion(question), { now }));
}

/** What an answer rests upon, beside the feed and the question. */
export interface CheckStepsOptions extends AnswerLimits {
  /** The clock. */
  readonly now: Date;
}

/**
 * {@linkcode check} of a parsed question in steps, for a process that serves
 * others: a subject may have as many relationships as the feed has events.
 *
 * @throws {SigError} `consistency_unavailable`, at the first step.
 */
export function* checkSteps(
  state: FeedState,
  question: ParsedQuestion,
  { now, ...limits }: CheckStepsOptions,
): Steps<CheckResult> {
  const { subject, requirements, at, asOf, explain } = question;
  const moment = resolveMoment(state, question, now);
  const judging = new Judging(
    requirements,
    explain ? limits : { ...limits, maxExplained: 0 },
  );
  yield* judge(state, subject, moment, judging);
  const { match } = judging;
  // A question about the past has an answer that time does not change.
  const isPast = at !== undefined || asOf !== undefined;
  return {
    decision: match ? "allow" : "deny",
    subject,
    requirements,
    matched_relationship_id: match?.state.relationship_id ?? null,
    last_sequence: moment.events,
    issuer: state.issuer,
    ...judging.denyReasons(),
    evaluated_at: formatInstant(instantOf(now)),
    at: timeAsAsked(at),
    as_of: timeAsAsked(asOf),
    not_after: isPast ? null : judging.notAfter,
    ...(explain ? { explain: yield* judging.explain(moment) } : {}),
  };
}

/** Looks at each relationship of the subject once. */
function* judge(
  { history }: FeedState,
  subject: string,
  moment: Moment,
  judging: Judging,
): Steps<void> {
  let units = 0;
  for (const id of history.relationshipsOf(subject)) {
    const standing = standingOf(history, id, moment);
    units += 1 + (history.versions.get(id)!.length >> 3);
    if (standing?.state.subject === subject) {
      units += standing.state.roles.length >> 3;
      judging.add(standing);
    }
    if (units < STEP_UNITS) continue;
    units = 0;
    yield;
  }
}

/** What was seen of a subject's relationships; not all of them themselves. */
class Judging {
  /** Of those that meet everything and are active, the last spoken of. */
  match: Standing | undefined;
  readonly #requirements: readonly Requirement[];
  readonly #index: RequirementIndex;
  readonly #maxExplained: number;
  readonly #maxReasons: number;
  readonly #explained: Standing[] = [];
  /** Of those that meet everything but are not active. */
  readonly #inactive: Reason[] = [];
  #count = 0;
  #inactiveCount = 0;
  /** The earliest start among those that meet everything. */
  #begins: string | null = null;
  /** Per distinct requirement: whether an active relationship meets it. */
  readonly #metByActive: boolean[];
  /** Per distinct requirement: the last spoken of that meets it. */
  readonly #lastMeeting: (Standing | undefined)[];

  constructor(requirements: readonly Requirement[], limits: AnswerLimits) {
    const { maxExplained = Infinity, maxVerdicts = Infinity } = limits;
    this.#requirements = requirements;
    this.#index = new RequirementIndex(requirements);
    const fitting = Math.max(1, Math.floor(maxVerdicts / requirements.length));
    this.#maxExplained = Math.min(maxExplained, fitting);
    this.#maxReasons = limits.maxReasons ?? Infinity;
    this.#metByActive = this.#index.distinct.map(() => false);
    this.#lastMeeting = this.#index.distinct.map(() => undefined);
  }

  /** Takes the next relationship. */
  add(standing: Standing): void {
    this.#count++;
    if (this.#explained.length < this.#maxExplained) {
      this.#explained.push(standing);
    }
    const isActive = standing.status === "active";
    const met = this.#index.metBy(standing.state);
    for (const i of met) {
      this.#metByActive[i] ||= isActive;
      this.#lastMeeting[i] = later(this.#lastMeeting[i], standing);
    }
    if (met.length < this.#index.distinct.length) return;
    if (isActive) this.match = later(this.match, standing);
    else this.#addInactive(standing);
  }

  #addInactive(standing: Standing): void {
    this.#inactiveCount++;
    if (this.#inactive.length < this.#maxReasons) {
      this.#inactive.push(statusReason(standing));
    }
    const { valid_from: from } = standing.state;
    if (standing.status !== "not_yet_valid" || from === null) return;
    if (
      this.#begins === null ||
      compareInstants(validInstant(from), validInstant(this.#begins)) < 0
    ) this.#begins = from;
  }

  /** Allow ends with its relationship; deny may end when a later one begins. */
  get notAfter(): string | null {
    return this.match ? this.match.state.valid_until : this.#begins;
  }

  /** Why not; empty on allow. */
  denyReasons(): Pick<CheckResult, "reasons" | "reasons_left_out"> {
    if (this.match) return { reasons: [] };
    if (this.#count === 0) return { reasons: [{ code: "no_relationship" }] };
    if (this.#inactiveCount > 0) {
      const leftOut = this.#inactiveCount - this.#inactive.length;
      return {
        reasons: this.#inactive,
        ...(leftOut > 0 ? { reasons_left_out: leftOut } : {}),
      };
    }
    const reasons: Reason[] = [];
    for (const [i, requirement] of this.#requirements.entries()) {
      const place = this.#index.places[i]!;
      if (this.#metByActive[place]) continue;
      const last = this.#lastMeeting[place];
      reasons.push(
        last
          ? statusReason(last, requirement)
          : { code: MISSING[requirement.key], requirement },
      );
    }
    return {
      reasons: reasons.length > 0 ? reasons : [{ code: "requirements_split" }],
    };
  }

  /** How each relationship was judged; the one that matched is among them. */
  *explain(moment: Moment): Steps<Explanation> {
    const { match } = this;
    const shown = this.#explained;
    if (match && shown.length > 0 && !shown.includes(match)) {
      shown[shown.length - 1] = match;
    }
    const relationships: ExplainedRelationship[] = [];
    let units = 0;
    for (const standing of shown) {
      relationships.push(this.#explainOne(standing));
      units += this.#requirements.length + (standing.state.roles.length >> 3);
      if (units < STEP_UNITS) continue;
      units = 0;
      yield;
    }
    return {
      judged_at: formatInstant(moment.instant),
      tense: moment.tense,
      events: moment.events,
      relationships,
      ...(shown.length < this.#count
        ? { truncated: true, relationship_count: this.#count }
        : {}),
    };
  }

  #explainOne({ state, status }: Standing): ExplainedRelationship {
    const met = new Set(this.#index.metBy(state));
    return {
      relationship_id: state.relationship_id,
      relationship_type: state.relationship_type,
      roles: state.roles,
      valid_from: state.valid_from,
      valid_until: state.valid_until,
      effective_status: status,
      last_sequence: state.last_sequence,
      requirements: this.#requirements.map((each, i) => ({
        ...each,
        met: met.has(this.#index.places[i]!),
      })),
    };
  }
}

/** Of several, the one that the feed spoke of last is named. */
function later(a: Standing | undefined, b: Standing): Standing {
  return a === undefined || b.state.last_sequence > a.state.last_sequence
    ? b
    : a;
}

function statusReason(
  { state, status }: Standing,
  requirement?: Requirement,
): Reason {
  return {
    // Never called for an active one: that would be a match.
    code: status as Exclude<EffectiveStatus, "active">,
    relationship_id: state.relationship_id,
    sequence: state.last_sequence,
    ...(requirement ? { requirement } : {}),
  };
}
