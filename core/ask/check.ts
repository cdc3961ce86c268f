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
import { effectiveStateAt } from "../replay/effective_state.ts";
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
