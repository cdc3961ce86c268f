/**
 * The question: may this subject do this, now or then? (docs/protocol.md §5)
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
 * Answers whether **one** relationship of the subject meets **every**
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
 * @throws {SigError} `requirements_empty`, `invalid_requirement`,
 * `invalid_identifier` for an empty subject, `invalid_request` for a malformed
 * time, `consistency_unavailable`.
 */
export function check(state: FeedState, question: Question): CheckResult {
  const { now } = question;
  return runSteps(checkSteps(state, parseQuestion(question), { now }));
}

/** What an answer depends on, apart from the feed and the question. */
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
  options: CheckStepsOptions,
): Steps<CheckResult> {
  const { now } = options;
  const time = resolveTime(state, question, now);
  const evaluator = new Evaluator([question], options);
  yield* judge(state, question.subject, time, evaluator);
  return yield* answerOf(question, 0, { state, time, evaluator, now });
}

/**
 * {@linkcode checkSteps} of several questions about one subject at one time,
 * whose relationships are looked at once for all of them. Each answer is made
 * when it is asked for: all of them at once may be very large.
 *
 * @returns What makes the answers, in the order of the questions.
 * @throws {SigError} as {@linkcode checkSteps}.
 * @throws {TypeError} for questions about several subjects or times.
 */
export function* checkAllSteps(
  state: FeedState,
  questions: readonly ParsedQuestion[],
  options: CheckStepsOptions,
): Steps<readonly (() => Steps<CheckResult>)[]> {
  const { now } = options;
  const asked = theirSubject(questions);
  const time = resolveTime(state, asked, now);
  const evaluator = new Evaluator(questions, options);
  yield* judge(state, asked.subject, time, evaluator);
  return questions.map((question, i) => () =>
    answerOf(question, i, { state, time, evaluator, now })
  );
}

/** What was judged. */
interface Judged {
  readonly state: FeedState;
  readonly time: EvaluationTime;
  readonly evaluator: Evaluator;
  readonly now: Date;
}

/** The answer to one of the questions that were judged together. */
function* answerOf(
  { subject, requirements, at, asOf, explain }: ParsedQuestion,
  i: number,
  { state, time, evaluator, now }: Judged,
): Steps<CheckResult> {
  const { match, notAfter } = evaluator.verdict(i);
  // A question about the past has an answer that time does not change.
  const isPast = at !== undefined || asOf !== undefined;
  return {
    decision: match ? "allow" : "deny",
    subject,
    // A list of its own: V8 writes frozen ones as JSON the slow way.
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

function theirSubject(questions: readonly ParsedQuestion[]): ParsedQuestion {
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

/** Looks at each relationship of the subject once. */
function* judge(
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
