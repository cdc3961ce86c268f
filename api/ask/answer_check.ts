/** From a question of a request to its answer. @module */

import type {
  AnswerBasis,
  Consumer,
  IssuerName,
  ObserveOptions,
  VerifiedIssuer,
  WaitFor,
} from "@sig/consumer";
import type { Decided } from "../http/mod.ts";
import { answerInSlices, answersInSlices } from "@sig/consumer/internal";
import { type CheckAnswer, ParsedQuestion, SigError } from "@sig/core";
import type { AnswerLimits } from "@sig/core/internal";
import type { RequestBudget } from "../http/mod.ts";
import type { InlineFeeds } from "./inline_feeds.ts";
import type { CheckRequest, SourceMembers } from "../schemas/question.ts";

/**
 * The feed decides how many relationships a subject has: an answer tells of the
 * first of them, and how many are left out. It rests upon all of them.
 */
export const ANSWER_LIMITS: Required<AnswerLimits> = Object.freeze({
  maxExplained: 1_000,
  maxVerdicts: 8_192,
  maxExplainLength: 1024 * 1024,
  maxReasons: 100,
});

/** What a service asks issuers by; it answers from what was observed itself. */
export type IssuerObserver = Pick<Consumer, "observe" | "report" | "state">;

/** What a service answers from. */
export interface Sources {
  /** Issuers on the network. */
  readonly consumer: IssuerObserver;
  /** Feeds that come along. */
  readonly inline: InlineFeeds;
  /** The clock: a question without `at` is judged by it. */
  readonly now: () => Date;
  /** Awaited between slices of long work. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** Called with each answer, for telemetry. */
  readonly decided?: ((answer: Decided) => void) | undefined;
}

/** What the answers of one request need. */
export interface AnswerContext extends Sources {
  /**
   * Waits for an issuer, or for a large feed's turn, without a place of the
   * service: a silent issuer holds up the questions about it, and no others.
   */
  readonly waitFor: WaitFor;
}

/**
 * The sources for one request. The function is not written where it is assigned:
 * V8 would make it an old object, which keeps the whole request, and make the
 * next ones old too, until a collection of them all.
 */
export function forRequest<T extends Sources>(
  sources: T,
  budget: RequestBudget,
): T & AnswerContext {
  return { ...sources, waitFor: waitingOf(budget) };
}

function waitingOf(budget: RequestBudget): WaitFor {
  return (other, work) => budget.waitFor(other, work);
}

/** What questions are answered from. */
export interface Grounds {
  /** The issuer. */
  readonly verified: VerifiedIssuer;
  /** How far it can be relied upon. */
  readonly basis: Omit<AnswerBasis, "now">;
}

/**
 * Finds what questions about one source, with the same bounds, are answered from.
 *
 * @throws {SigError} as `createConsumer`, and `overloaded`.
 */
export async function groundsOf(
  requests: readonly CheckRequest[],
  { consumer, inline, waitFor }: AnswerContext,
): Promise<Grounds> {
  const request = requests[0]!;
  if (request.feed !== undefined) {
    return { verified: await inline.verify(request.feed, waitFor), basis: {} };
  }
  const subjects = requests.map(({ subject }) => subject);
  const { verified, freshness, continuity } = await consumer.observe(
    sourceOf(request),
    boundsOf(request, subjects, waitFor),
  );
  return { verified, basis: { freshness, continuity } };
}

function boundsOf(
  request: CheckRequest,
  subjects: readonly string[],
  waitFor: WaitFor,
): ObserveOptions {
  const { as_of: asOf, min_sequence: minSequence } = request;
  const { max_age_seconds: maxAge } = request;
  const maxAgeMs = maxAge === undefined ? undefined : maxAge * 1000;
  return { maxAgeMs, minSequence, subjects, asOf, waitFor };
}

/**
 * Answers, or throws why there is no answer: that is never a deny.
 *
 * @throws {SigError} as `checkIssuer` and `createConsumer`, and `overloaded`.
 */
export async function answerCheck(
  request: CheckRequest,
  context: AnswerContext,
): Promise<CheckAnswer> {
  const { consumer, now, waitFor, yieldToEventLoop } = context;
  const limits = { ...ANSWER_LIMITS, yieldToEventLoop };
  const question = questionOf(request);
  if (request.feed !== undefined) {
    const { verified } = await groundsOf([request], context);
    requireSequence(request, verified);
    return await answerInSlices(verified, question, { now: now() }, limits);
  }
  // Not by way of `groundsOf`: its promise would cost each question 5 %.
  const { verified, freshness, continuity } = await consumer.observe(
    sourceOf(request),
    {
      ...boundsOf(request, [request.subject], waitFor),
      at: request.at ?? null,
    },
  );
  const basis = { now: now(), freshness, continuity };
  return answerInSlices(verified, question, basis, limits);
}

/**
 * Answers several questions about one subject at one time, whose relationships are
 * looked at once.
 *
 * @throws {SigError} as core's `check`.
 */
export async function answerTogether(
  requests: readonly CheckRequest[],
  { verified, ...grounds }: Grounds,
  { now, yieldToEventLoop }: Pick<AnswerContext, "now" | "yieldToEventLoop">,
): Promise<readonly (() => CheckAnswer | Promise<CheckAnswer>)[]> {
  const basis = { ...grounds.basis, now: now() };
  const limits = { ...ANSWER_LIMITS, yieldToEventLoop };
  const questions = requests.map(questionOf);
  return await answersInSlices(verified, questions, basis, limits);
}

function questionOf(request: CheckRequest): ParsedQuestion {
  const { subject, require: requirements, at, as_of: asOf, explain } = request;
  return new ParsedQuestion({ subject, requirements, at, asOf, explain });
}

/** The issuer or URL that a request names. */
export function sourceOf(
  request: Pick<SourceMembers, "issuer" | "sig">,
): IssuerName {
  return (request.issuer ?? request.sig)!;
}

/**
 * A feed that came along can't be asked again for more.
 *
 * @throws {SigError} `consistency_unavailable`
 */
export function requireSequence(
  { feed, min_sequence: wanted }: CheckRequest,
  { state: { last_sequence: last } }: VerifiedIssuer,
): void {
  if (!feed || wanted === undefined || wanted <= last) return;
  throw new SigError(
    "consistency_unavailable",
    `Cannot answer: the feed ends at sequence ${last}, before the ${wanted} ` +
      "that is asked for",
    { context: { sequence: wanted, last_sequence: last } },
  );
}
