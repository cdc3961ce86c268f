/** From a question of a request to its answer. @module */

import {
  answerInSlices,
  type Consumer,
  type IssuerQuestion,
  type VerifiedIssuer,
} from "@sig/consumer";
import { type CheckAnswer, SigError } from "@sig/core";
import { ANSWER_LIMITS } from "./answer_limits.ts";
import { boundExplanation } from "./bound_explanation.ts";
import type { InlineFeeds } from "./inline_feeds.ts";
import type { CheckRequest } from "../requests/requests.ts";

/** What answers need. */
export interface AnswerContext {
  /** Issuers on the network. */
  readonly consumer: Consumer;
  /** Feeds that come along. */
  readonly inline: InlineFeeds;
  /** The clock: a question without `at` is judged by it. */
  readonly now: () => Date;
  /** Awaited between slices of long work. */
  readonly breathe: () => Promise<void>;
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
  const { consumer, inline } = context;
  if (request.feed !== undefined) {
    return answerInline(request, await inline.verify(request.feed), context);
  }
  const { subject, require, at, as_of: asOf, explain } = request;
  const answer = await consumer.check(sourceOf(request), {
    subject,
    require,
    at,
    asOf,
    explain,
    maxAgeSeconds: request.max_age_seconds,
    minSequence: request.min_sequence,
  });
  return boundExplanation(answer);
}

/**
 * Answers from a feed that came along.
 *
 * @throws {SigError} as core's `check`.
 */
export async function answerInline(
  request: CheckRequest,
  verified: VerifiedIssuer,
  { now, breathe }: Pick<AnswerContext, "now" | "breathe">,
): Promise<CheckAnswer> {
  requireSequence(verified.state.last_sequence, request.min_sequence);
  return boundExplanation(
    await answerInSlices(verified, questionOf(request), { now: now() }, {
      ...ANSWER_LIMITS,
      breathe,
    }),
  );
}

/** A request's question, without its source and bounds. */
export function questionOf(request: CheckRequest): IssuerQuestion {
  const { subject, require, at, as_of: asOf, explain } = request;
  return { subject, require, at, asOf, explain };
}

/** The issuer or URL that a request names. */
export function sourceOf(
  request: { readonly issuer?: string; readonly sig?: string },
): string {
  return (request.issuer ?? request.sig)!;
}

/** A feed that came along can't be asked again for more. */
function requireSequence(last: number, wanted: number | undefined): void {
  if (wanted === undefined || wanted <= last) return;
  throw new SigError(
    "consistency_unavailable",
    `Cannot answer: the feed ends at sequence ${last}, before the ${wanted} ` +
      "that is asked for",
    { context: { sequence: wanted, last_sequence: last } },
  );
}
