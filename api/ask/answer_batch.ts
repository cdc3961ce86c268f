/** Several questions in one request (docs/reference/http.md). @module */

import { type CheckAnswer, SigError } from "@sig/core";
import { timeAsAsked } from "@sig/core/internal";
import {
  type AnswerContext,
  answerTogether,
  groundsOf,
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
  /** What stands in the place of an answer. */
  readonly tell: (answer: CheckAnswer, index: number) => unknown;
  /** What stands in the place of an answer that there is none of. */
  readonly refuse: (error: unknown, index: number) => unknown;
  /** Told of bytes before they are held; may throw to refuse them. */
  readonly reserve: (bytes: number) => void;
}

interface Due {
  readonly index: number;
  readonly request: CheckRequest;
}

/**
 * Answers all questions, in their order, as the texts of JSON values: values of
 * all of them would be far larger. Nothing that is wrong with one of them spoils
 * another.
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
  const pause = createPause(context.yieldToEventLoop);
  const texts = new Array<string>(checks.length);
  let used = 0;
  /** Does what some of the questions wait for; its failure is that of each. */
  const attempt = async (
    due: readonly { readonly index: number }[],
    work: () => void | Promise<void>,
  ) => {
    try {
      await work();
    } catch (error) {
      for (const { index } of due) {
        texts[index] = JSON.stringify(context.refuse(error, index));
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
      const grounds = await groundsOf(due.map(requestOf), context);
      for (const same of alike(due)) {
        await attempt(same, async () => {
          const requests = same.map(requestOf);
          const answers = await answerTogether(requests, grounds, context);
          for (const [i, { index, request }] of same.entries()) {
            await pause();
            await attempt([{ index }], async () => {
              requireSequence(request, grounds.verified);
              if (used === Infinity) throw tooMuch();
              const text = JSON.stringify(
                context.tell(await answers[i]!(), index),
              );
              if (used + text.length > MAX_ANSWERS_LENGTH) {
                used = Infinity;
                throw tooMuch();
              }
              context.reserve(text.length);
              used += text.length;
              texts[index] = text;
            });
          }
        });
      }
    });
  const sources = bySource.values();
  const work = async () => {
    // All bounds in one turn: whatever refresh they need is the same one.
    for (const due of sources) await Promise.all(byBounds(due).map(answer));
  };
  await Promise.all(Array.from({ length: BATCH_WIDTH }, work));
  return texts;
}

/** An object whose only member is a list of such texts. */
export function listOfTexts(member: string, texts: readonly string[]): string {
  return `{${JSON.stringify(member)}:[${texts.join(",")}]}`;
}

function requestOf({ request }: Due): CheckRequest {
  return request;
}

/** The same for the same source. A JSON text ends by itself. */
function keyOf(request: CheckRequest): string {
  if (request.feed === undefined) return sourceOf(request).text;
  // As it is: writing a feed as JSON escapes every quote of its lines.
  const { events, ...documents } = request.feed;
  return JSON.stringify(documents) + events;
}

/** Those about one source that rest upon the same state, or lack the same one. */
function byBounds(due: readonly Due[]): readonly (readonly Due[])[] {
  if (due[0]!.request.feed !== undefined) return [due];
  const groups = Map.groupBy(due, ({ request }) => {
    const { max_age_seconds, min_sequence, as_of } = request;
    return `${max_age_seconds} ${min_sequence} ${timeAsAsked(as_of)}`;
  });
  return [...groups.values()];
}

/** Those about one subject at one time are answered together. */
function alike(due: readonly Due[]): Iterable<readonly Due[]> {
  return Map.groupBy(
    due,
    ({ request: { subject, at, as_of } }) =>
      JSON.stringify([subject, timeAsAsked(at), timeAsAsked(as_of)]),
  ).values();
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
