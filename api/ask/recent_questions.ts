/**
 * Repeats answers to questions that were asked before: most clients send the
 * same few questions again and again (bench/check.ts).
 *
 * @module
 */

import { type CheckAnswer, formatInstant, instantOf } from "@sig/core";
import { nextChangeMs } from "@sig/core/internal";
import type { CheckBatch, CheckRequest } from "../schemas/question.ts";
import type { Grounds } from "./answer_check.ts";

/** Maximum number of questions, and size of each in bytes. */
const MAX_QUESTIONS = 1000;
const MAX_QUESTION_BYTES = 1024;
/** Maximum length of an answer in characters. */
const MAX_ANSWER_LENGTH = 4096;

/** A question, and the last answer to it. */
export interface RecentQuestion {
  readonly request: CheckRequest | CheckBatch;
  last?: LastAnswer;
}

/**
 * An answer without an explanation. As long as the state is the same and no
 * relationship of the subject begins or ends, only `evaluated_at` and
 * `freshness` change.
 */
interface LastAnswer {
  readonly answer: CheckAnswer;
  /** Weak: a state that is no longer used must not stay in memory. */
  readonly verified: WeakRef<Grounds["verified"]>;
  readonly continuity: Grounds["basis"]["continuity"];
  /** The clock times with the same evaluation: from, until (exclusive). */
  readonly fromMs: number;
  readonly untilMs: number;
  /** The JSON text of the other members, without the closing brace. */
  readonly constant: string;
}

/** Keeps parsed questions by the bytes of their requests. */
export class RecentQuestions {
  readonly #questions = new Map<string, RecentQuestion>();

  /** Returns the key of a question; undefined if it is too large to be kept. */
  keyOf(bytes: Uint8Array): string | undefined {
    // Unique for these bytes, and faster to create than decoded UTF-8.
    return bytes.length > MAX_QUESTION_BYTES ? undefined : bytes.toBase64();
  }

  find(key: string | undefined): RecentQuestion | undefined {
    return key === undefined ? undefined : this.#questions.get(key);
  }

  keep(key: string | undefined, request: RecentQuestion["request"]): void {
    if (key === undefined) return;
    if (this.#questions.size >= MAX_QUESTIONS) this.#questions.clear();
    this.#questions.set(key, { request });
  }
}

/** Keeps an answer with its question, if it can be repeated. */
export function keepAnswer(
  question: RecentQuestion,
  { feed, at, as_of, explain }: CheckRequest,
  { verified, basis: { continuity, now } }: Grounds,
  answer: CheckAnswer,
): void {
  // An inline feed is verified for each request.
  if (feed || explain) return;
  const { evaluated_at: _, freshness: __, ...others } = answer;
  const constant = JSON.stringify(others).slice(0, -1);
  if (constant.length > MAX_ANSWER_LENGTH) return;
  const isPast = at !== undefined || as_of !== undefined;
  question.last = {
    answer,
    verified: new WeakRef(verified),
    continuity,
    fromMs: now.getTime(),
    untilMs: isPast
      ? Infinity
      : nextChangeMs(verified.state, answer.subject, now),
    constant,
  };
}

/**
 * Returns the last answer as JSON text for a repeated question; undefined if it
 * must be evaluated again.
 */
export function repeatAnswer(
  { last }: RecentQuestion,
  { verified, basis: { continuity, freshness, now } }: Grounds,
): string | undefined {
  const nowMs = now.getTime();
  const isSame = last !== undefined && last.verified.deref() === verified &&
    last.continuity === continuity && nowMs >= last.fromMs &&
    nowMs < last.untilMs;
  return isSame
    ? `${last.constant},"evaluated_at":"${formatInstant(instantOf(now))}",` +
      `"freshness":${JSON.stringify(freshness ?? null)}}`
    : undefined;
}
