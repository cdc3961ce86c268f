/** Several questions in one request (docs/reference/http.md). @module */

import { type CheckAnswer, SigError } from "@sig/core";
import { timeAsAsked } from "@sig/core/internal";
import {
  type Answer,
  type AnswerContext,
  answerTogether,
  boundsOf,
  type Grounds,
  requireSequence,
  sourceOf,
} from "./answer_check.ts";
import type { CheckRequest } from "../schemas/question.ts";

/** Issuers and feeds of a batch that are worked on at a time. */
const BATCH_WIDTH = 8;
/** Characters of a batch's answers at most. */
const MAX_ANSWERS_LENGTH: number = 4 * 1024 * 1024;

/** What a batch needs, beside what answers need. */
export interface BatchContext extends AnswerContext {
  /** Reads one of the questions; throws what is wrong with it. */
  readonly read: (check: unknown, index: number) => CheckRequest;
  /** What stands in the place of an answer; (default: the answer itself). */
  readonly tell?: (answer: CheckAnswer, index: number) => unknown;
  /** What stands in the place of an answer that there is none of. */
  readonly refuse: (error: unknown, index: number) => unknown;
  /** Told of bytes before they are held; may throw to refuse them. */
  readonly reserve: (bytes: number) => void;
}

interface Due {
  readonly index: number;
  readonly request: CheckRequest;
}

/** Questions that rest upon the same state, or lack the same one. */
interface Group {
  readonly due: readonly Due[];
  readonly grounds: Promise<Grounds>;
}

/**
 * Answers all questions, in their order, as the texts of JSON values. Nothing
 * that is wrong with one of them spoils another.
 *
 * Each issuer is asked once: its questions are answered together, as soon as it
 * is known, and share a refresh that began after the request came, or its
 * failure. Else a batch would ask an issuer that fails or is slow again and
 * again. And each feed that came along is verified once.
 */
export async function answerBatch(
  checks: readonly unknown[],
  context: BatchContext,
): Promise<readonly string[]> {
  const results = createResults(checks.length, context);
  const pause = createPause(context.yieldToEventLoop);
  const bySource = new Map<string, Due[]>();
  for (const [index, check] of checks.entries()) {
    await pause();
    try {
      const request = context.read(check, index);
      const key = keyOf(request);
      const due = bySource.get(key);
      if (due === undefined) bySource.set(key, [{ index, request }]);
      else due.push({ index, request });
    } catch (error) {
      results.refuse(index, error);
    }
  }
  const sources = bySource.values();
  const work = async () => {
    for (const due of sources) {
      for (const group of openGroups(due, context)) {
        for (const due of alike(group.due)) {
          const answer = createAnswers(due, group.grounds, context);
          for (const [i, { index }] of due.entries()) {
            await pause();
            await results.put(index, () => answer(i));
          }
        }
      }
    }
  };
  await Promise.all(Array.from({ length: BATCH_WIDTH }, work));
  return results.texts;
}

/** An object whose only member is a list of such texts. */
export function listOfTexts(member: string, texts: readonly string[]): string {
  return `{${JSON.stringify(member)}:[${texts.join(",")}]}`;
}

/** The same for the same source. A JSON text ends by itself. */
function keyOf(request: CheckRequest): string {
  if (request.feed === undefined) return sourceOf(request).text;
  // As it is: writing a feed as JSON escapes every quote of its lines.
  const { events, ...documents } = request.feed;
  return JSON.stringify(documents) + events;
}

/** Begins to look at one source for all questions about it. */
function openGroups(
  due: readonly Due[],
  context: AnswerContext,
): readonly Group[] {
  const { consumer, inline, waitFor } = context;
  const { feed } = due[0]!.request;
  if (feed !== undefined) {
    const grounds = inline.verify(feed, waitFor).then((verified) => ({
      verified,
      basis: {},
    }));
    // Told to those who wait for it, which may be later or nobody.
    grounds.catch(() => {});
    return [{ due, grounds }];
  }
  const byBounds = Map.groupBy(due, ({ request }) => {
    const { max_age_seconds, min_sequence, as_of } = request;
    return `${max_age_seconds} ${min_sequence} ${timeAsAsked(as_of)}`;
  });
  return Array.from(byBounds.values(), (due) => {
    const { request } = due[0]!;
    const subjects = due.map(({ request }) => request.subject);
    // All bounds in one turn: whatever refresh they need is the same one.
    const grounds = consumer.observe(sourceOf(request), {
      ...boundsOf(request),
      subjects,
      asOf: request.as_of,
      waitFor,
    }).then(({ verified, freshness, continuity }) => ({
      verified,
      basis: { freshness, continuity },
    }));
    // Here, too.
    grounds.catch(() => {});
    return { due, grounds };
  });
}

/** Those about one subject at one time are answered together. */
function alike(due: readonly Due[]): Iterable<readonly Due[]> {
  return Map.groupBy(
    due,
    ({ request: { subject, at, as_of } }) =>
      JSON.stringify([subject, timeAsAsked(at), timeAsAsked(as_of)]),
  ).values();
}

/**
 * What answers each of them. The subject may have very many relationships: they
 * are looked at when the first answer is asked for, and then no more.
 */
function createAnswers(
  due: readonly Due[],
  grounds: Promise<Grounds>,
  context: AnswerContext,
): (i: number) => Promise<CheckAnswer> {
  let answers: Promise<readonly (() => Answer)[]> | undefined;
  return async (i) => {
    const { request } = due[i]!;
    const { verified, basis } = await grounds;
    if (request.feed !== undefined) requireSequence(request, verified);
    answers ??= answerTogether(
      due.map(({ request }) => request),
      { verified, basis },
      context,
    );
    return await (await answers)[i]!();
  };
}

/** Collects the answers as texts: values of all of them would be far larger. */
function createResults(length: number, context: BatchContext) {
  const texts = new Array<string>(length);
  let used = 0;
  let isFull = false;
  const { tell = (answer: CheckAnswer) => answer } = context;
  const refuse = (index: number, error: unknown) => {
    texts[index] = JSON.stringify(context.refuse(error, index));
  };
  return {
    texts,
    refuse,
    async put(
      index: number,
      answer: () => Promise<CheckAnswer>,
    ): Promise<void> {
      try {
        if (isFull) throw tooMuch();
        const text = JSON.stringify(tell(await answer(), index));
        isFull = used + text.length > MAX_ANSWERS_LENGTH;
        if (isFull) throw tooMuch();
        context.reserve(text.length);
        used += text.length;
        texts[index] = text;
      } catch (error) {
        refuse(index, error);
      }
    },
  };
}

function tooMuch(): SigError {
  return new SigError(
    "invalid_request",
    `Cannot answer: the answers of the batch are longer than ${MAX_ANSWERS_LENGTH} characters`,
    {
      context: {
        limit: MAX_ANSWERS_LENGTH,
        hint: "Ask fewer questions at once, or without `explain`.",
      },
    },
  );
}

/** Milliseconds of a request's work before others are let in. */
const SLICE_MS = 10;

/**
 * Makes what is awaited before each part of a request that has several. Before
 * the first part as well: many such requests may come in one turn of the event
 * loop, and must not have a whole slice each.
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
