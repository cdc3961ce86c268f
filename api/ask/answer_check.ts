/** Answers a question. @module */

import type { AnswerBasis, IssuerName, VerifiedIssuer } from "@sig/consumer";
import { answerInSlices } from "@sig/consumer/internal";
import { type CheckAnswer, ParsedQuestion, SigError } from "@sig/core";
import type { AnswerLimits } from "@sig/core/internal";
import type { Decided, RequestBudget } from "../http/mod.ts";
import type { Feeds } from "./feeds.ts";
import type { CheckRequest, RequestSchemas } from "../schemas/question.ts";

/**
 * Limits of the details in an answer: the feed decides how many relationships a
 * subject has. An answer contains the first ones and the number of those left
 * out; the decision considers all of them.
 */
export const ANSWER_LIMITS: Required<AnswerLimits> = Object.freeze({
  maxExplained: 1_000,
  maxVerdicts: 8_192,
  maxExplainLength: 1024 * 1024,
  maxReasons: 100,
});

/** The sources and hooks for answering questions. */
export interface Sources {
  /** Verifies the feeds that requests name. */
  readonly feeds: Feeds;
  /** Returns the current time; used for questions without `at`. */
  readonly now: () => Date;
  /** Yields to the event loop between slices of long work. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** Listed issuers, each once. A single one is the default. */
  readonly listed: readonly IssuerName[];
  /** The schemas of requests. */
  readonly schemas: RequestSchemas;
  /** Called with each answer, for telemetry. */
  readonly decided?: ((answer: Decided) => void) | undefined;
}

/** {@linkcode Sources} for the answers of one request. */
export interface AnswerContext extends Sources {
  /** A silent issuer delays only the questions about it. */
  readonly budget: RequestBudget;
}

/** The state that questions are answered from. */
export interface Grounds {
  /** The verified issuer. */
  readonly verified: VerifiedIssuer;
  /** The clock, and the freshness and continuity of its state. */
  readonly basis: AnswerBasis;
}

/**
 * Returns the state for questions about one source with the same bounds.
 *
 * @throws {SigError} as `createConsumer`, and `overloaded`.
 */
export async function groundsOf(
  requests: readonly CheckRequest[],
  { feeds, now, budget }: AnswerContext,
): Promise<Grounds> {
  const request = requests[0]!;
  const { as_of: asOf, max_age_seconds: maxAge } = request;
  const { verified, freshness, continuity } = await feeds.observe(request, {
    maxAgeMs: maxAge === undefined ? undefined : maxAge * 1000,
    minSequence: request.min_sequence,
    subjects: requests.map(({ subject }) => subject),
    asOf,
    // Several questions may be about several times.
    ...(requests.length === 1 ? { at: request.at ?? null } : {}),
    waitFor: budget.whileWaitingFor,
  });
  return { verified, basis: { now: now(), freshness, continuity } };
}

/**
 * Answers a question from a state. A failure is never a deny.
 *
 * @throws {SigError} as core's `check`; `consistency_unavailable`.
 */
export function answerOn(
  { verified, basis }: Grounds,
  request: CheckRequest,
  { yieldToEventLoop }: Pick<AnswerContext, "yieldToEventLoop">,
): CheckAnswer | Promise<CheckAnswer> {
  requireSequence(request, verified);
  const { subject, require: requirements, at, as_of: asOf, explain } = request;
  const question = { subject, requirements, at, asOf, explain };
  const limits = { ...ANSWER_LIMITS, yieldToEventLoop };
  const parsed = new ParsedQuestion(question);
  return answerInSlices(verified, parsed, basis, limits);
}

/**
 * Checks `min_sequence` for an inline feed, which can't be refreshed.
 *
 * @throws {SigError} `consistency_unavailable`
 */
function requireSequence(
  { feed, min_sequence: wanted }: CheckRequest,
  { state: { last_sequence: last } }: VerifiedIssuer,
): void {
  if (!feed || wanted === undefined || wanted <= last) return;
  throw new SigError("consistency_unavailable", {
    action: "answer",
    reason:
      `the feed ends at sequence ${last}, before the ${wanted} that is asked for`,
    context: { sequence: wanted, last_sequence: last },
  });
}
