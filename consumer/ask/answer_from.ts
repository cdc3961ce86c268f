/** Answers questions from a verified issuer (docs/protocol.md §5). @module */

import {
  type AskedQuestion,
  type CheckAnswer,
  type Continuity,
  type Freshness,
  type ParsedQuestion,
  parseQuestion,
  warningsAbout,
} from "@sig/core";
import {
  type AnswerLimits,
  checkSteps,
  runInSlices,
  runSteps,
  type Steps,
} from "@sig/core/internal";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";

/** A question, parsed or not. The clock is an option instead. */
export type IssuerQuestion = AskedQuestion | ParsedQuestion;

/** What an answer depends on in addition to the issuer. */
export interface AnswerBasis {
  /** The clock. */
  readonly now: Date;
  /** The age of the state; null if nothing was fetched. */
  readonly freshness?: Freshness | null | undefined;
  /** How the feed relates to the pin (default: `unpinned`). */
  readonly continuity?: Continuity | undefined;
}

/**
 * Answers a question from an issuer that is already verified, for several
 * questions or a cached state. Local and inline sources have no freshness;
 * `freshness` is ignored for them. (docs/protocol.md §6)
 *
 * @example
 * ```ts
 * import { answerFrom, openInlineFeed, verifyIssuer } from "@sig/consumer";
 * import { assertEquals } from "@std/assert";
 *
 * const now = new Date("2026-01-01T00:00:00Z");
 * const verified = await verifyIssuer(
 *   openInlineFeed({
 *     metadata: {
 *       spec_version: "sig/0.1",
 *       issuer: "did:web:acme.example",
 *       jwks_uri: "https://acme.example/.well-known/jwks.json",
 *       events_uri: "https://acme.example/.well-known/sig/events.jsonl",
 *       public_only: true,
 *       algorithms_supported: ["EdDSA"],
 *     },
 *     jwks: { keys: [] },
 *     events: "",
 *   }),
 *   { now },
 * );
 * const { decision, freshness } = answerFrom(verified, {
 *   subject: "did:web:alice.example",
 *   require: ["role=deploy"],
 * }, { now });
 * assertEquals(decision, "deny");
 * assertEquals(freshness, null);
 * ```
 *
 * @throws {SigError} as core's `check`.
 */
export function answerFrom(
  verified: VerifiedIssuer,
  question: IssuerQuestion,
  basis: AnswerBasis,
): CheckAnswer {
  return runSteps(answerSteps(verified, parseQuestion(question), basis, {}));
}

/** How {@linkcode answerInSlices} yields, and the limits of its answer. */
export interface SliceOptions extends AnswerLimits {
  /** Awaited between slices of a few milliseconds. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/**
 * Answers like {@linkcode answerFrom}, for servers: yields to the event loop
 * while it reads a subject with very many relationships. With few
 * relationships, the usual case, it returns the answer without a promise.
 *
 * @throws {SigError} as {@linkcode answerFrom}, synchronously.
 */
export function answerInSlices(
  verified: VerifiedIssuer,
  question: IssuerQuestion,
  basis: AnswerBasis,
  options: SliceOptions,
): CheckAnswer | Promise<CheckAnswer> {
  const steps = answerSteps(verified, parseQuestion(question), basis, options);
  return runInSlices(steps, options.yieldToEventLoop);
}

function* answerSteps(
  { state, source, warnings, proof = null }: VerifiedIssuer,
  question: ParsedQuestion,
  { now, freshness = null, continuity = "unpinned" }: AnswerBasis,
  limits: AnswerLimits,
): Steps<CheckAnswer> {
  const result = yield* checkSteps(state, question, { ...limits, now });
  return {
    ...result,
    source,
    freshness: source === "https" || source === "http" ? freshness : null,
    continuity,
    warnings: warningsAbout(result.subject, warnings, state.history),
    proof,
  };
}
