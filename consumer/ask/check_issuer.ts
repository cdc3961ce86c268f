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
import { provableQuestion, readByProof } from "../follow/read_by_proof.ts";
import { refreshIssuer } from "../follow/refresh.ts";
import { NOTHING_KNOWN } from "../memory/issuer_record.ts";
import { loadIssuer } from "../verify/load_issuer.ts";
import {
  type VerifiedIssuer,
  type VerifyIssuerOptions,
  verifyLoaded,
} from "../verify/verify_feed.ts";

/** Options of {@linkcode checkIssuer}. */
export interface CheckIssuerOptions
  extends Omit<VerifyIssuerOptions, "now">, FetchPolicy {
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
    verifyAsked(location, asked, options),
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

/** Verifies by proof if there is one, otherwise from the feed. */
async function verifyAsked(
  location: IssuerLocation,
  asked: ParsedQuestion,
  options: CheckIssuerOptions & { readonly now: Date },
): Promise<VerifiedIssuer> {
  const { subject, at, asOf } = asked;
  const mayProve = location.reader.kind === "remote" &&
    options.proofs !== false && options.onEvent === undefined;
  const question = mayProve
    ? provableQuestion({ subjects: [subject], asOf, at: at ?? null }, options)
    : undefined;
  const found = question && await readByProof(location, question, options);
  if (found && "verified" in found) return found.verified;
  const withWarning = (verified: VerifiedIssuer) =>
    found?.warning === undefined
      ? verified
      : { ...verified, warnings: [found.warning, ...verified.warnings] };
  if (options.checkpointPolicy !== undefined) {
    // Only a feed that confirms the checkpoint counts.
    const { onEvent, onProgress } = options;
    let events = 0;
    const { record, failure } = await refreshIssuer(location, NOTHING_KNOWN, {
      ...options,
      onEvent(verified) {
        events++;
        onEvent?.(verified);
      },
      onProgress: (bytes, totalBytes) =>
        onProgress?.(bytes, { events, totalBytes }),
    });
    if (failure !== undefined) throw failure.cause;
    return withWarning(record.held!.observation!.verified);
  }
  const loaded = found?.loaded ?? await loadIssuer(location, options);
  // Only the relationships of one subject are needed. A question with `at`
  // needs all of them: it depends on all earlier versions of a relationship.
  const keepOnly = at === undefined ? subject : undefined;
  return withWarning(await verifyLoaded(loaded, options, { keepOnly }));
}
