/** From a question of a request to its answer. @module */

import { answerFrom, type Consumer, type VerifiedIssuer } from "@sig/consumer";
import { type CheckAnswer, SigError } from "@sig/core";
import type { InlineFeeds } from "./inline_feeds.ts";
import type { CheckRequest } from "./schema/requests.ts";

/** What answers need. */
export interface AnswerContext {
  /** Issuers on the network. */
  readonly consumer: Consumer;
  /** Feeds that come along. */
  readonly inline: InlineFeeds;
  /** The clock. */
  readonly now: () => Date;
  /** Awaited between slices of long work. */
  readonly breathe: () => Promise<void>;
}

/** Verifies inline feeds of one request, each of them once. */
export type VerifyInline = (
  feed: NonNullable<CheckRequest["feed"]>,
) => Promise<VerifiedIssuer>;

/**
 * Answers, or throws why there is no answer: that is never a deny.
 *
 * @throws {SigError} as `checkIssuer` and `createConsumer`, and `overloaded`.
 */
export async function answerCheck(
  request: CheckRequest,
  { consumer, now }: AnswerContext,
  verifyInline: VerifyInline,
): Promise<CheckAnswer> {
  const { subject, at, as_of: asOf, explain } = request;
  const question = { subject, require: request.require, at, asOf, explain };
  if (request.feed === undefined) {
    return await consumer.check(sourceOf(request), {
      ...question,
      maxAgeSeconds: request.max_age_seconds,
      minSequence: request.min_sequence,
    });
  }
  const verified = await verifyInline(request.feed);
  requireSequence(verified.state.last_sequence, request.min_sequence);
  return answerFrom(verified, question, { now: now() });
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

/** Does the work for each feed of one request once, however often it stands. */
export function onceEach(verify: VerifyInline): VerifyInline {
  const begun = new Map<string, Promise<VerifiedIssuer>>();
  return (feed) => {
    const key = JSON.stringify(feed);
    const before = begun.get(key);
    if (before !== undefined) return before;
    const verified = verify(feed);
    begun.set(key, verified);
    return verified;
  };
}
