/** One question to one issuer, verified from the first byte (docs/protocol.md §5). @module */

import {
  type CheckAnswer,
  formatInstant,
  instantOf,
  parseQuestion,
} from "@sig/core";
import { answerFrom, type IssuerQuestion } from "./answer_from.ts";
import type { IssuerLocation } from "../read/reader.ts";
import { loadIssuer } from "../verify/load_issuer.ts";
import {
  type VerifyIssuerOptions,
  verifyLoaded,
} from "../verify/verify_feed.ts";

/** Options of {@linkcode checkIssuer}. */
export interface CheckIssuerOptions extends VerifyIssuerOptions {
  /**
   * How old a state may be, in milliseconds (default: 60,000). It is fetched now,
   * so this is only repeated in the answer's `freshness`.
   */
  readonly maxAgeMs?: number | undefined;
}

/** How old an answer's state may be by default. */
export const DEFAULT_MAX_AGE_MS = 60_000;

/**
 * Gets and verifies everything that an issuer publishes, then answers.
 *
 * "Could not answer" is thrown; it is never an allow and never a deny.
 *
 * @example
 * ```ts
 * import { checkIssuer, openInlineFeed } from "@sig/consumer";
 * import { assertEquals } from "@std/assert";
 *
 * const location = openInlineFeed({
 *   metadata: {
 *     spec_version: "sig/0.1",
 *     issuer: "did:web:acme.example",
 *     jwks_uri: "https://acme.example/.well-known/jwks.json",
 *     events_uri: "https://acme.example/.well-known/sig/events.jsonl",
 *     public_only: true,
 *     algorithms_supported: ["EdDSA"],
 *   },
 *   jwks: { keys: [] },
 *   events: "",
 * });
 * const answer = await checkIssuer(location, {
 *   subject: "did:web:alice.example",
 *   require: ["role=deploy"],
 * }, { now: new Date("2026-01-01T00:00:00Z") });
 * assertEquals(answer.decision, "deny");
 * assertEquals(answer.source, "inline");
 * ```
 *
 * @throws {SigError} as `verifyIssuer` and core's `check`.
 */
export async function checkIssuer(
  location: IssuerLocation,
  question: IssuerQuestion,
  options: CheckIssuerOptions,
): Promise<CheckAnswer> {
  // One that is wrong by itself is refused before anything is fetched.
  const asked = parseQuestion(question);
  const loaded = await loadIssuer(location, options);
  // Of very many relationships those of one subject are needed. What was true
  // then depends on all that a relationship has been before.
  const keepOnly = asked.at === undefined ? asked.subject : undefined;
  const told = { keepOnly };
  const verified = await verifyLoaded(location, loaded, options, told);
  const { maxAgeMs = DEFAULT_MAX_AGE_MS } = options;
  return answerFrom(verified, asked, {
    now: options.now,
    freshness: {
      observed_at: formatInstant(instantOf(options.now)),
      age_seconds: 0,
      max_age_seconds: maxAgeMs / 1000,
      status: "fresh",
    },
  });
}
