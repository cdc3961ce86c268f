/**
 * Checks whether a subject meets requirements, now or in the past
 * (docs/protocol.md §5).
 *
 * @module
 */

import type { AnswerLimits, CheckResult } from "./answer.ts";
import { Evaluator } from "./evaluator.ts";
import { resolveTime, timeAsAsked } from "./evaluation_time.ts";
import {
  type ParsedQuestion,
  parseQuestion,
  type Question,
} from "./question.ts";
import type { FeedState } from "../replay/replay.ts";
import {
  effectiveStateAt,
  type EvaluationTime,
} from "../replay/effective_state.ts";
import { runSteps, STEP_UNITS, type Steps } from "../text/steps.ts";
import { formatInstant, instantOf } from "../text/timestamp.ts";

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
  const evaluator = new Evaluator([question], options);
  yield* evaluateAll(state, question.subject, time, evaluator);
  return yield* answerOf(question, 0, { state, time, evaluator, now });
}

/**
 * Answers several questions about one subject at one time, and evaluates each
 * relationship once for all of them. Each answer is built only when its
 * function is called: together they may be very large.
 *
 * @returns Functions that build the answers, in the order of the questions.
 * @throws {SigError} as {@linkcode checkSteps}.
 * @throws {TypeError} for questions about several subjects or times.
 */
export function* checkAllSteps(
  state: FeedState,
  questions: readonly ParsedQuestion[],
  options: CheckStepsOptions,
): Steps<readonly (() => Steps<CheckResult>)[]> {
  const { now } = options;
  const asked = sharedSubject(questions);
  const time = resolveTime(state, asked, now);
  const evaluator = new Evaluator(questions, options);
  yield* evaluateAll(state, asked.subject, time, evaluator);
  return questions.map((question, i) => () =>
    answerOf(question, i, { state, time, evaluator, now })
  );
}

/** A finished evaluation. */
interface Evaluation {
  readonly state: FeedState;
  readonly time: EvaluationTime;
  readonly evaluator: Evaluator;
  readonly now: Date;
}

/** Builds the answer to one of the evaluated questions. */
function* answerOf(
  { subject, requirements, at, asOf, explain }: ParsedQuestion,
  i: number,
  { state, time, evaluator, now }: Evaluation,
): Steps<CheckResult> {
  const { match, notAfter } = evaluator.verdict(i);
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
    ...evaluator.denyReasons(i, requirements),
    evaluated_at: formatInstant(instantOf(now)),
    at: timeAsAsked(at),
    as_of: timeAsAsked(asOf),
    not_after: isPast ? null : notAfter,
    ...(explain
      ? { explain: yield* evaluator.explain(i, requirements, time) }
      : {}),
  };
}

function sharedSubject(questions: readonly ParsedQuestion[]): ParsedQuestion {
  const [first, ...others] = questions;
  if (first === undefined) throw new TypeError("Cannot check: no question");
  for (const { subject, at, asOf } of others) {
    if (
      subject === first.subject && timeAsAsked(at) === timeAsAsked(first.at) &&
      timeAsAsked(asOf) === timeAsAsked(first.asOf)
    ) continue;
    throw new TypeError(
      "Cannot check together: they differ in subject or time",
    );
  }
  return first;
}

/** Evaluates each relationship of the subject once. */
function* evaluateAll(
  { history }: FeedState,
  subject: string,
  time: EvaluationTime,
  evaluator: Evaluator,
): Steps<void> {
  let units = 0;
  for (const id of history.relationshipsOf(subject)) {
    const effective = effectiveStateAt(history, id, time);
    units += 1 + (history.versions.get(id)!.length >> 3);
    if (effective?.state.subject === subject) {
      units += effective.state.roles.length >> 3;
      units += evaluator.add(effective) >> 3;
    }
    if (units < STEP_UNITS) continue;
    units = 0;
    yield;
  }
}
