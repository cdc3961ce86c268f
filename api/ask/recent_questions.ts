/**
 * Repeats answers to questions that were asked before: most clients send the
 * same few questions again and again (bench/check.ts).
 *
 * @module
 */

import { type CheckAnswer, formatInstant, instantOf } from "@sig/core";
import { nextChangeMs, sameBytes } from "@sig/core/internal";
import type { CheckRequest } from "../schemas/question.ts";
import type { Grounds } from "./answer_check.ts";

/** Maximum number of questions, and size of each in bytes. */
const MAX_QUESTIONS = 1000;
const MAX_QUESTION_BYTES = 1024;
/** Maximum length of an answer in characters. */
const MAX_ANSWER_LENGTH = 4096;
/** Number of the last requests that can be recognized; a power of two. */
const MAX_SEEN = 4096;

/**
 * A question with the last answer to it. As long as the state is the same and
 * no relationship of the subject begins or ends, only `evaluated_at` and
 * `freshness` change.
 */
interface RecentQuestion {
  /** The bytes of its request. */
  readonly body: Uint8Array;
  readonly request: CheckRequest;
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

/**
 * Keeps questions that were sent at least twice, so that the others cost no
 * memory.
 */
export class RecentQuestions {
  /** The hashes of the last requests. */
  readonly #seen = new Int32Array(MAX_SEEN);
  /** By the hash of the request. */
  readonly #questions = new Map<number, RecentQuestion>();

  /** Returns the question with the same bytes; undefined if it is not kept. */
  find(body: Uint8Array): RecentQuestion | undefined {
    if (body.length > MAX_QUESTION_BYTES) return undefined;
    const found = this.#questions.get(hashOf(body));
    return found && sameBytes(found.body, body) ? found : undefined;
  }

  /** Keeps a question and its answer, if the answer can be repeated. */
  keep(
    body: Uint8Array,
    request: CheckRequest,
    { verified, basis: { continuity, now } }: Grounds,
    answer: CheckAnswer,
  ): void {
    const { feed, at, as_of, explain } = request;
    // An inline feed is verified for each request.
    if (body.length > MAX_QUESTION_BYTES || feed || explain) return;
    const hash = hashOf(body);
    const slot = hash & (MAX_SEEN - 1);
    const wasSeen = this.#seen[slot] === hash;
    this.#seen[slot] = hash;
    if (!wasSeen) return;
    const { evaluated_at: _, freshness: __, ...others } = answer;
    const constant = JSON.stringify(others).slice(0, -1);
    if (constant.length > MAX_ANSWER_LENGTH) return;
    const isPast = at !== undefined || as_of !== undefined;
    if (this.#questions.size >= MAX_QUESTIONS) this.#questions.clear();
    this.#questions.set(hash, {
      body,
      request,
      answer,
      verified: new WeakRef(verified),
      continuity,
      fromMs: now.getTime(),
      untilMs: isPast
        ? Infinity
        : nextChangeMs(verified.state, answer.subject, now),
      constant,
    });
  }
}

/** A 32-bit FNV-1a hash. Equal hashes cost time, so `find` compares bytes. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  }
  return hash;
}

/**
 * Returns the last answer as JSON text for a repeated question; undefined if it
 * must be evaluated again.
 */
export function repeatAnswer(
  last: RecentQuestion,
  { verified, basis: { continuity, freshness, now } }: Grounds,
): string | undefined {
  const nowMs = now.getTime();
  const isSame = last.verified.deref() === verified &&
    last.continuity === continuity && nowMs >= last.fromMs &&
    nowMs < last.untilMs;
  return isSame
    ? `${last.constant},"evaluated_at":"${formatInstant(instantOf(now))}",` +
      `"freshness":${JSON.stringify(freshness ?? null)}}`
    : undefined;
}
