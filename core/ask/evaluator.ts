/**
 * Evaluates a subject's relationships, for one question or many
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
import type { ParsedQuestion } from "./question.ts";
import { type Requirement, RequirementIndex } from "./requirement.ts";
import type {
  EffectiveState,
  EvaluationTime,
} from "../replay/effective_state.ts";
import { STEP_UNITS, type Steps } from "../text/steps.ts";
import { formatInstant } from "../text/timestamp.ts";
import { later, statusReason, Verdict } from "./verdict.ts";

const MISSING = Object.freeze({
  relationship: "relationship_type_missing",
  role: "role_missing",
  relationship_id: "relationship_id_missing",
});

const NONE = Object.freeze([]);

/** A question's requirements, as indexes into the distinct requirements. */
interface Needs {
  /** The index of each of its requirements, in their order. */
  readonly indexes: readonly number[];
  /** The verdict, shared by all questions with the same requirements. */
  readonly verdict: Verdict;
  /** Maximum number of explained relationships. */
  readonly maxExplained: number;
}

/**
 * Collects the results of a subject's relationships without keeping all of
 * them. The requirements that a relationship meets are found once, however many
 * questions share them, and only questions that need one of those are
 * evaluated.
 */
export class Evaluator {
  readonly #index: RequirementIndex;
  readonly #needs: readonly Needs[];
  /** One verdict for each distinct set of requirements. */
  readonly #verdicts: readonly Verdict[];
  /** The verdicts, by the rarest of their requirements. */
  readonly #byRarest: readonly (readonly Verdict[])[];
  readonly #maxExplained: number;
  readonly #maxExplainLength: number;
  readonly #explained: EffectiveState[] = [];
  #count = 0;
  /** For each distinct requirement: whether an active relationship meets it. */
  readonly #metByActive: boolean[] = [];
  /** For each distinct requirement: the last relationship that meets it. */
  readonly #lastMeeting: (EffectiveState | undefined)[] = [];

  /** Creates an evaluator for questions about one subject at one time. */
  constructor(questions: readonly ParsedQuestion[], limits: AnswerLimits) {
    this.#maxExplainLength = limits.maxExplainLength ?? Infinity;
    this.#index = new RequirementIndex(
      questions.length === 1
        ? questions[0]!.requirements
        : questions.flatMap(({ requirements }) => requirements),
    );
    const { distinct, indexes } = this.#index;
    const [only] = questions;
    if (only !== undefined && questions.length === 1) {
      // The usual case needs no grouping of questions.
      const verdict = new Verdict(NONE, limits);
      const maxExplained = maxExplainedOf(only, limits);
      this.#needs = [{ indexes, verdict, maxExplained }];
      this.#verdicts = [verdict];
      this.#byRarest = NONE;
      this.#maxExplained = maxExplained;
      return;
    }
    this.#needs = needsOf(questions, indexes, limits);
    this.#verdicts = [...new Set(this.#needs.map(({ verdict }) => verdict))];
    this.#byRarest = byRarest(this.#verdicts, distinct.length);
    this.#maxExplained = this.#needs.reduce(
      (most, { maxExplained }) => Math.max(most, maxExplained),
      0,
    );
  }

  /** Evaluates a relationship; returns the number of verdicts checked. */
  add(effective: EffectiveState): number {
    this.#count++;
    if (this.#explained.length < this.#maxExplained) {
      this.#explained.push(effective);
    }
    const isActive = effective.status === "active";
    const met = this.#index.metBy(effective.state);
    for (const i of met) {
      this.#metByActive[i] ||= isActive;
      this.#lastMeeting[i] = later(this.#lastMeeting[i], effective);
    }
    if (this.#verdicts.length === 1) {
      const isAll = met.size === this.#index.distinct.length;
      if (isAll) this.#verdicts[0]!.add(effective, isActive);
      return 1;
    }
    let checked = 0;
    for (const i of met) {
      for (const verdict of this.#byRarest[i]!) {
        checked++;
        if (verdict.needs.every((each) => met.has(each))) {
          verdict.add(effective, isActive);
        }
      }
    }
    return checked;
  }

  /** Returns the verdict of a question. */
  verdict(question: number): Verdict {
    return this.#needs[question]!.verdict;
  }

  /** Returns the reasons of a deny; empty on allow. */
  denyReasons(
    question: number,
    requirements: readonly Requirement[],
  ): Pick<CheckResult, "reasons" | "reasons_left_out"> {
    const { verdict, indexes } = this.#needs[question]!;
    if (verdict.match) return { reasons: [] };
    if (this.#count === 0) return { reasons: [{ code: "no_relationship" }] };
    if (verdict.inactive.length > 0) {
      const leftOut = verdict.inactiveCount - verdict.inactive.length;
      return {
        reasons: verdict.inactive,
        ...(leftOut > 0 ? { reasons_left_out: leftOut } : {}),
      };
    }
    const reasons: Reason[] = [];
    for (const [i, requirement] of requirements.entries()) {
      const index = indexes[i]!;
      if (this.#metByActive[index]) continue;
      const last = this.#lastMeeting[index];
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
  *explain(
    question: number,
    requirements: readonly Requirement[],
    time: EvaluationTime,
  ): Steps<Explanation> {
    const { verdict: { match }, indexes, maxExplained } = this
      .#needs[question]!;
    const fitting = countFitting(
      this.#explained,
      requirements,
      this.#maxExplainLength,
    );
    const shown = this.#explained.slice(0, Math.min(maxExplained, fitting));
    if (match && shown.length > 0 && !shown.includes(match)) {
      shown[shown.length - 1] = match;
    }
    const relationships: ExplainedRelationship[] = [];
    let units = 0;
    for (const effective of shown) {
      relationships.push(this.#explainOne(effective, requirements, indexes));
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

  #explainOne(
    { state, status }: EffectiveState,
    requirements: readonly Requirement[],
    indexes: readonly number[],
  ): ExplainedRelationship {
    const met = this.#index.metBy(state);
    return {
      relationship_id: state.relationship_id,
      relationship_type: state.relationship_type,
      roles: state.roles,
      valid_from: state.valid_from,
      valid_until: state.valid_until,
      effective_status: status,
      last_sequence: state.last_sequence,
      requirements: requirements.map((each, i) => ({
        ...each,
        met: met.has(indexes[i]!),
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

function needsOf(
  questions: readonly ParsedQuestion[],
  indexes: readonly number[],
  limits: AnswerLimits,
): readonly Needs[] {
  const verdicts = new Map<string, Verdict>();
  let at = 0;
  return questions.map((question) => {
    const own = indexes.slice(at, at += question.requirements.length);
    const needs = [...new Set(own)].sort((a, b) => a - b);
    const name = needs.join();
    const verdict = verdicts.get(name) ?? new Verdict(needs, limits);
    verdicts.set(name, verdict);
    const maxExplained = maxExplainedOf(question, limits);
    return { indexes: own, verdict, maxExplained };
  });
}

function byRarest(
  verdicts: readonly Verdict[],
  requirements: number,
): readonly (readonly Verdict[])[] {
  const found: Verdict[][] = Array.from({ length: requirements }, () => []);
  if (verdicts.length === 1) return found;
  const needed = new Array<number>(requirements).fill(0);
  for (const { needs } of verdicts) for (const each of needs) needed[each]!++;
  for (const verdict of verdicts) {
    const rarest = verdict.needs.reduce((a, b) =>
      needed[b]! < needed[a]! ? b : a
    );
    found[rarest]!.push(verdict);
  }
  return found;
}
