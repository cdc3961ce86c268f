/** One question to one issuer, verified from the first byte (docs/protocol.md §5). @module */

import {
  type CheckAnswer,
  formatInstant,
  instantOf,
  type ParsedQuestion,
  parseQuestion,
} from "@sig/core";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { locateIssuer, openSource, type Source } from "../read/source.ts";
import { answerFrom, type IssuerQuestion } from "./answer_from.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { ProofPolicy } from "../proofs/proof_policy.ts";
import { endingAt } from "../follow/back_off.ts";
import { provableQuestion } from "../follow/bounds.ts";
import { IssuerDocuments, NO_DOCUMENTS } from "../read/issuer_documents.ts";
import {
  type VerifiedIssuer,
  verifyIssuer,
  type VerifyIssuerOptions,
} from "../verify/verify_feed.ts";
import type { VerifiedEvent } from "../verify/verified_feed.ts";

/** Options of {@linkcode checkIssuer}. */
export interface CheckIssuerOptions
  extends Omit<VerifyIssuerOptions, "keepOnly" | "now">, FetchPolicy {
  /** The clock (default: now; no other function but `createConsumer` reads it). */
  readonly now?: Date | undefined;
  /**
   * Maximum age of a state in milliseconds (default: 60,000). The state is
   * fetched now, so this is only repeated in the answer's `freshness`.
   */
  readonly maxAgeMs?: number | undefined;
  /** Whether the issuer's proofs may be used instead of its feed (default: true). */
  readonly proofs?: boolean | undefined;
  /** As in `ConsumerOptions`. */
  readonly checkpointPolicy?: ProofPolicy | undefined;
}

/** Default maximum age of a state in milliseconds. */
export const DEFAULT_MAX_AGE_MS = 60_000;

/**
 * Fetches and verifies an issuer's documents and feed, then answers.
 *
 * A failure to answer is thrown; it is never an allow and never a deny.
 *
 * @example
 * ```ts ignore
 * import { checkIssuer } from "@sig/consumer";
 *
 * const { decision } = await checkIssuer("acme.example", {
 *   subject: "did:web:alice.example",
 *   require: ["role=deploy"],
 * });
 * ```
 *
 * @example A feed in memory
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
 * @param issuer Its host, did:web or URL of `sig.json`, or a result of
 * `parseSource`, `openSource` or `openInlineFeed`. A string is never a path, so
 * that a planted folder can't answer for a host.
 * @param question Its `signal` ends the wait with its reason.
 * @throws {SigError} as `verifyIssuer` and core's `check`; `invalid_identifier`
 * for a string that is not a valid issuer.
 */
export async function checkIssuer(
  issuer: string | Source | IssuerLocation,
  question: IssuerQuestion & { readonly signal?: AbortSignal | undefined },
  given: CheckIssuerOptions = {},
): Promise<CheckAnswer> {
  // An invalid question fails before anything is fetched.
  const asked = parseQuestion(question, ["signal"]);
  question.signal?.throwIfAborted();
  const location = typeof issuer === "string"
    ? locateIssuer(issuer, given)
    : "reader" in issuer
    ? issuer
    : openSource(issuer, given);
  const options = { ...given, now: given.now ?? new Date() };
  const verified = await endingAt(
    question.signal,
    observe(location, asked, options),
  );
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

/** Reads an issuer of which nothing is remembered. */
async function observe(
  location: IssuerLocation,
  { subject, asOf, at }: ParsedQuestion,
  options: CheckIssuerOptions & { readonly now: Date },
): Promise<VerifiedIssuer> {
  const { checkpointPolicy, onEvent, onProgress, proofs = true } = options;
  const scope = { subjects: [subject], asOf, at: at ?? null };
  const question = location.reader.kind === "remote" && proofs &&
      onEvent === undefined
    ? provableQuestion(scope, options)
    : undefined;
  // A question about a past time depends on earlier versions of a relationship.
  const keepOnly = at === undefined ? subject : undefined;
  const documents = new IssuerDocuments(location.reader, NO_DOCUMENTS);
  const isProven = question && await documents.findProofs(location);
  const reader = question ? documents.again() : location.reader;
  const place = { ...location, reader };
  if (!isProven && checkpointPolicy === undefined) {
    return await verifyIssuer(place, { ...options, keepOnly });
  }
  // Most feeds have no proofs, or fewer bytes than their code.
  const { observeOnce } = await import("../follow/read_by_proof.ts");
  let events = 0;
  return await observeOnce(place, question, {
    ...options,
    keepOnly,
    onEvent(verified: VerifiedEvent) {
      events++;
      onEvent?.(verified);
    },
    onProgress: (bytes: number, totalBytes: number | undefined) =>
      onProgress?.(bytes, { events, totalBytes }),
  });
}
