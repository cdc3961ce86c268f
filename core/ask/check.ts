/**
 * Checks whether a subject meets requirements, now or in the past
 * (docs/protocol.md §5).
 *
 * @module
 */

import type {
  AnswerLimits,
  CheckResult,
  ExplainedRelationship,
  Explanation,
  Reason,
} from "./answer.ts";
import { resolveTime, timeAsAsked } from "./evaluation_time.ts";
import {
  meets,
  type ParsedQuestion,
  parseQuestion,
  type Question,
  type Requirement,
} from "./question.ts";
import type { FeedState } from "../replay/replay.ts";
import {
  type EffectiveState,
  effectiveStateAt,
  type EffectiveStatus,
  type EvaluationTime,
} from "../replay/effective_state.ts";
import { runSteps, STEP_UNITS, type Steps } from "../text/steps.ts";
import {
  compareInstants,
  formatInstant,
  instantOf,
  validInstant,
} from "../text/timestamp.ts";
import type { RelationshipState } from "../event/types.ts";

/**
 * Checks whether **one** relationship of the subject meets **every**
 * requirement and is effective. (docs/protocol.md §5)
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
 * @throws {SigError} as {@linkcode parseQuestion}, and
 * `consistency_unavailable`.
 */
export function check(state: FeedState, question: Question): CheckResult {
  const asked = parseQuestion(question, ["now"]);
  return runSteps(checkSteps(state, asked, { now: question.now }));
}

/** Options of {@linkcode checkSteps}. */
export interface CheckStepsOptions extends AnswerLimits {
  /** The clock time. */
  readonly now: Date;
}

/**
 * Does the same as {@linkcode check} in steps, for a process that serves other
 * requests too: a subject may have as many relationships as the feed has
 * events.
 *
 * @throws {SigError} `consistency_unavailable`, at the first step.
 */
export function* checkSteps(
  state: FeedState,
  question: ParsedQuestion,
  options: CheckStepsOptions,
): Steps<CheckResult> {
  const { now } = options;
  const time = resolveTime(state, question, now);
  const { subject, requirements, at, asOf, explain } = question;
  const evaluator = new Evaluator(question, options);
  const { history } = state;
  let units = 0;
  for (const id of history.relationshipsOf(subject)) {
    const effective = effectiveStateAt(history, id, time);
    units += 1 + (history.versions.get(id)!.length >> 3);
    if (effective?.state.subject === subject) {
      evaluator.add(effective);
      units += (effective.state.roles.length + requirements.length) >> 3;
    }
    if (units < STEP_UNITS) continue;
    units = 0;
    yield;
  }
  const { match, notAfter } = evaluator;
  // An answer about the past does not change with time.
  const isPast = at !== undefined || asOf !== undefined;
  return {
    decision: match ? "allow" : "deny",
    subject,
    // A frozen array is slow to serialize in V8.
    requirements: [...requirements],
    matched_relationship_id: match?.state.relationship_id ?? null,
    last_sequence: time.events,
    issuer: state.issuer,
    ...evaluator.denyReasons(),
    evaluated_at: formatInstant(instantOf(now)),
    at: timeAsAsked(at),
    as_of: timeAsAsked(asOf),
    not_after: isPast ? null : notAfter,
    ...(explain ? { explain: yield* evaluator.explain(time) } : {}),
  };
}

const MISSING = /* @__PURE__ */ Object.freeze({
  relationship: "relationship_type_missing",
  role: "role_missing",
  relationship_id: "relationship_id_missing",
});

/** Number of roles up to which a set of them costs more than it saves. */
const FEW_ROLES = 64;

/**
 * Collects the results of a subject's relationships for one question, without
 * keeping all of them.
 */
class Evaluator {
  readonly #requirements: readonly Requirement[];
  readonly #maxExplained: number;
  readonly #maxExplainLength: number;
  readonly #maxReasons: number;
  readonly #explained: EffectiveState[] = [];
  #count = 0;
  /** The active relationship that was changed last. */
  #match: EffectiveState | undefined;
  /** Why relationships that meet all requirements are not active. */
  readonly #inactive: Reason[] = [];
  #inactiveCount = 0;
  /** The earliest start of validity among them. */
  #begins: string | null = null;
  /** For each requirement: whether an active relationship meets it. */
  readonly #metByActive: boolean[] = [];
  /** For each requirement: the last relationship that meets it. */
  readonly #lastMeeting: (EffectiveState | undefined)[] = [];

  /** Creates an evaluator without any relationship. */
  constructor(question: ParsedQuestion, limits: AnswerLimits) {
    this.#requirements = question.requirements;
    this.#maxExplained = maxExplainedOf(question, limits);
    this.#maxExplainLength = limits.maxExplainLength ?? Infinity;
    this.#maxReasons = limits.maxReasons ?? Infinity;
  }

  /** The active relationship that meets every requirement; changed last. */
  get match(): EffectiveState | undefined {
    return this.#match;
  }

  /**
   * When the answer may change: an allow ends with its relationship, a deny
   * when a later relationship begins.
   */
  get notAfter(): string | null {
    return this.#match ? this.#match.state.valid_until : this.#begins;
  }

  /** Evaluates a relationship. */
  add(effective: EffectiveState): void {
    this.#count++;
    if (this.#explained.length < this.#maxExplained) {
      this.#explained.push(effective);
    }
    const isActive = effective.status === "active";
    const met = this.#metBy(effective.state);
    met.forEach((isMet, i) => {
      if (!isMet) return;
      this.#metByActive[i] ||= isActive;
      this.#lastMeeting[i] = later(this.#lastMeeting[i], effective);
    });
    if (!met.every(Boolean)) return;
    if (isActive) this.#match = later(this.#match, effective);
    else this.#addInactive(effective);
  }

  #addInactive(effective: EffectiveState): void {
    this.#inactiveCount++;
    if (this.#inactive.length < this.#maxReasons) {
      this.#inactive.push(statusReason(effective));
    }
    const { valid_from: from } = effective.state;
    if (effective.status !== "not_yet_valid" || from === null) return;
    if (
      this.#begins === null ||
      compareInstants(validInstant(from), validInstant(this.#begins)) < 0
    ) this.#begins = from;
  }

  /** Returns for each requirement whether a relationship meets it. */
  #metBy(state: RelationshipState): readonly boolean[] {
    // Many roles are read once: for 64 requirements, 10,000 roles would take
    // 640,000 comparisons.
    const roles = state.roles.length > FEW_ROLES
      ? new Set(state.roles)
      : undefined;
    return this.#requirements.map((each) =>
      roles !== undefined && each.key === "role"
        ? roles.has(each.value)
        : meets(state, each)
    );
  }

  /** Returns the reasons of a deny; empty on allow. */
  denyReasons(): Pick<CheckResult, "reasons" | "reasons_left_out"> {
    if (this.#match) return { reasons: [] };
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
      if (this.#metByActive[i]) continue;
      const last = this.#lastMeeting[i];
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

  /** Explains how each relationship was evaluated, including the match. */
  *explain(time: EvaluationTime): Steps<Explanation> {
    const requirements = this.#requirements;
    const fitting = countFitting(
      this.#explained,
      requirements,
      this.#maxExplainLength,
    );
    const shown = this.#explained.slice(0, fitting);
    const match = this.#match;
    if (match && shown.length > 0 && !shown.includes(match)) {
      shown[shown.length - 1] = match;
    }
    const relationships: ExplainedRelationship[] = [];
    let units = 0;
    for (const effective of shown) {
      relationships.push(this.#explainOne(effective));
      units += requirements.length + (effective.state.roles.length >> 3);
      if (units < STEP_UNITS) continue;
      units = 0;
      yield;
    }
    return {
      judged_at: formatInstant(time.instant),
      tense: time.tense,
      events: time.events,
      relationships,
      ...(shown.length < this.#count
        ? { truncated: true, relationship_count: this.#count }
        : {}),
    };
  }

  #explainOne({ state, status }: EffectiveState): ExplainedRelationship {
    const met = this.#metBy(state);
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
        met: met[i]!,
      })),
    };
  }
}

/** Returns how many relationships fit into a length (at least one). */
function countFitting(
  all: readonly EffectiveState[],
  requirements: readonly Requirement[],
  maxLength: number,
): number {
  const lengthOf = (texts: readonly string[]) =>
    texts.reduce((sum, { length }) => sum + length, 0);
  const repeated = lengthOf(requirements.map(({ value }) => value));
  let length = 0;
  const end = all.findIndex(({ state: { relationship_id, roles } }, i) => {
    length += repeated + relationship_id.length + lengthOf(roles);
    return i > 0 && length > maxLength;
  });
  return end < 0 ? all.length : end;
}

function maxExplainedOf(
  { requirements, explain }: ParsedQuestion,
  { maxExplained = Infinity, maxVerdicts = Infinity }: AnswerLimits,
): number {
  if (!explain) return 0;
  const fitting = Math.floor(maxVerdicts / requirements.length);
  return Math.min(maxExplained, Math.max(1, fitting));
}

/** Returns the relationship that was changed last. */
function later(
  a: EffectiveState | undefined,
  b: EffectiveState,
): EffectiveState {
  return a === undefined || b.state.last_sequence > a.state.last_sequence
    ? b
    : a;
}

/** Returns the reason why a relationship is not effective. */
function statusReason(
  { state, status }: EffectiveState,
  requirement?: Requirement,
): Reason {
  return {
    // An active relationship would be a match, not a reason.
    code: status as Exclude<EffectiveStatus, "active">,
    relationship_id: state.relationship_id,
    sequence: state.last_sequence,
    ...(requirement ? { requirement } : {}),
  };
}
