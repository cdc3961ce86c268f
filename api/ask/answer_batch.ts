/** Answers several questions in one request (docs/reference/http.md). @module */

import { type CheckAnswer, SigError } from "@sig/core";
import { timeAsAsked } from "@sig/core/internal";
import { type AnswerContext, answerOn, groundsOf } from "./answer_check.ts";
import { issuerOf } from "./feeds.ts";
import type { CheckRequest } from "../schemas/question.ts";

/** Issuers and feeds of a batch that are processed concurrently. */
const BATCH_WIDTH = 8;
/** Maximum total length of a batch's answers in characters. */
const MAX_ANSWERS_LENGTH: number = 4 * 1024 * 1024;

/** What a batch needs in addition to {@linkcode AnswerContext}. */
export interface BatchContext extends AnswerContext {
  /** Parses one of the questions; throws if it is invalid. */
  readonly read: (check: unknown, index: number) => CheckRequest;
  /** Returns the value to send for an answer. */
  readonly toResult: (answer: CheckAnswer, index: number) => unknown;
  /** Returns the value to send for a question that has no answer. */
  readonly toFailure: (error: unknown, index: number) => unknown;
}

interface Due {
  readonly index: number;
  readonly request: CheckRequest;
}

/**
 * Answers all questions, in their order, as JSON texts, which need far less
 * memory than the values. An error in one question doesn't affect another.
 *
 * Each issuer is queried once per batch: its questions share one refresh that
 * began after the request arrived, or its failure.
 * Otherwise a batch would query a failing or slow issuer again and again. Each
 * inline feed is verified once.
 */
export async function answerBatch(
  checks: readonly unknown[],
  context: BatchContext,
): Promise<readonly string[]> {
  const pause = createPause(context.yieldToEventLoop);
  const texts = new Array<string>(checks.length);
  let used = 0;
  /**
   * Runs work that several questions depend on; a failure becomes the result of
   * each of them.
   */
  const attempt = async (
    due: readonly { readonly index: number }[],
    work: () => void | Promise<void>,
  ) => {
    try {
      await work();
    } catch (error) {
      for (const { index } of due) {
        texts[index] = JSON.stringify(context.toFailure(error, index));
      }
    }
  };
  const bySource = new Map<string, Due[]>();
  for (const [index, check] of checks.entries()) {
    await pause();
    await attempt([{ index }], () => {
      const request = context.read(check, index);
      const key = keyOf(request);
      const due = bySource.get(key) ?? [];
      due.push({ index, request });
      bySource.set(key, due);
    });
  }
  const answer = (due: readonly Due[]) =>
    attempt(due, async () => {
      const requests = due.map(({ request }) => request);
      const grounds = await groundsOf(requests, context);
      for (const { index, request } of due) {
        await pause();
        await attempt([{ index }], async () => {
          if (used === Infinity) throw answersTooLong();
          const answer = await answerOn(grounds, request, context);
          const text = JSON.stringify(context.toResult(answer, index));
          if (used + text.length > MAX_ANSWERS_LENGTH) {
            used = Infinity;
            throw answersTooLong();
          }
          context.budget.reserve(text.length);
          used += text.length;
          texts[index] = text;
        });
      }
    });
  const sources = bySource.values();
  const work = async () => {
    // All groups start in the same turn, so that they share one refresh.
    for (const due of sources) await Promise.all(byBounds(due).map(answer));
  };
  await Promise.all(Array.from({ length: BATCH_WIDTH }, work));
  return texts;
}

/** Returns a JSON object whose only member is a list of JSON texts. */
export function listOfTexts(member: string, texts: readonly string[]): string {
  return `{${JSON.stringify(member)}:[${texts.join(",")}]}`;
}

/**
 * Returns an equal key for equal sources. JSON is self-delimiting, so `events`
 * can be appended to it.
 */
function keyOf(request: CheckRequest): string {
  if (request.feed === undefined) return issuerOf(request).text;
  // `events` is appended as is: encoding a feed as JSON would escape every
  // quote of its lines.
  const { events, ...documents } = request.feed;
  return JSON.stringify(documents) + events;
}

/** Groups the questions about one source that need the same state. */
function byBounds(due: readonly Due[]): readonly (readonly Due[])[] {
  if (due[0]!.request.feed !== undefined) return [due];
  const groups = Map.groupBy(due, ({ request }) => {
    const { max_age_seconds, min_sequence, as_of } = request;
    return `${max_age_seconds} ${min_sequence} ${timeAsAsked(as_of)}`;
  });
  return [...groups.values()];
}

function answersTooLong(): SigError {
  return new SigError("invalid_request", {
    action: "answer",
    reason:
      `the answers of the batch are longer than ${MAX_ANSWERS_LENGTH} characters`,
    context: {
      limit: MAX_ANSWERS_LENGTH,
      hint: "Ask fewer questions at once, or without `explain`.",
    },
  });
}

/** How long a request works before it yields, in milliseconds. */
const SLICE_MS = 10;

/**
 * Creates the function that a request awaits before each part of its work. It
 * also yields before the first part: many batches may arrive in one turn of the
 * event loop, and must not use a whole slice each.
 */
function createPause(
  yieldToEventLoop: () => Promise<void>,
): () => Promise<void> {
  let sliceBegan = -Infinity;
  return async () => {
    if (performance.now() - sliceBegan <= SLICE_MS) return;
    await yieldToEventLoop();
    sliceBegan = performance.now();
  };
}
