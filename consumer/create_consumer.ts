/** A long-running consumer with one verified state per issuer (docs/protocol.md §6). @module */

import {
  type CheckAnswer,
  isSigError,
  parseQuestion,
  type RelationshipState,
  SigError,
} from "@sig/core";
import { answerFrom, answerInSlices } from "./ask/answer_from.ts";
import { DEFAULT_MAX_AGE_MS } from "./ask/check_issuer.ts";
import { combineAnswers } from "./ask/combine_answers.ts";
import type {
  AskedAnswer,
  AskOptions,
  Consumer,
  ConsumerOptions,
  ConsumerQuestion,
} from "./consumer.ts";
import { MAX_TIMEOUT_MS } from "./fetch/transport.ts";
import {
  BOUNDS,
  type Bounds,
  freshnessOf,
  type ObservedIssuer,
  type ObserveOptions,
  readBounds,
  runImmediately,
} from "./follow/bounds.ts";
import { waitAtMost } from "./follow/back_off.ts";
import { type KnownIssuer, KnownIssuers } from "./follow/known_issuers.ts";
import { isDueToLoad, observeIssuer } from "./follow/observe.ts";
import { refreshIssuer } from "./follow/refresh_issuer.ts";
import type { Observation } from "./follow/reading.ts";
import { watchIssuer } from "./follow/watch.ts";
import { IssuerName } from "./read/source.ts";
import { type IssuerLocation, sourceOf } from "./read/reader.ts";
import { isFault } from "./verify/feed_fault.ts";
import { reportIssuerOnce } from "./verify/verify_report.ts";
import { SignatureWorkers } from "./verify/signature_workers.ts";
import type {
  VerifiedIssuer,
  VerifyIssuerOptions,
} from "./verify/verify_feed.ts";
import {
  invalidReport,
  validReport,
  type VerifyReport,
} from "./verify/verify_report.ts";

/**
 * Creates a consumer for a long-running process. It fetches and verifies only
 * new data, and remembers what it verified: if an issuer rolls back, rewrites
 * or re-signs its history, questions fail (`feed_rolled_back`, `key_replaced`,
 * `key_withdrawn`, `feed_rewritten`) until it serves the remembered history
 * again. (docs/protocol.md §6)
 *
 * - A question that arrives during a refresh shares it, unless the refresh
 *   began longer ago than the maximum age. A question that needs current data
 *   (`verify`, `report`, max age 0, `minSequence`) shares the next one.
 * - The age is measured when the question arrives, in `freshness` too: a slow
 *   fetch does not make an answer stale and causes no further fetch.
 * - Questions that share a refresh share its failure. At most `maxWaiting`
 *   questions wait for one issuer (`overloaded`), each for at most `maxWaitMs`
 *   (`fetch_timeout`): a silent issuer does not delay questions about others.
 * - A state older than three quarters of the maximum age is refreshed in the
 *   background: questions about an issuer in use don't wait (`refreshAhead`).
 * - While an issuer can't be reached, a state within the maximum age still
 *   answers, and with `graceMs` an older one. After a failure the next attempt
 *   begins 1, 2, 4, 8, then every 10 s later (each up to a fifth later);
 *   questions meanwhile get the error at once, with `retry_after_seconds`,
 *   unless they have `maxAgeMs: 0`. After a fault or a contradiction every
 *   question fails until a refresh succeeds.
 *
 * @example Only the listed issuers are allowed
 * ```ts
 * import { createConsumer } from "@sig/consumer";
 * import { SigError } from "@sig/core";
 * import { assertRejects } from "@std/assert";
 *
 * const consumer = createConsumer({ issuers: ["acme.example"] });
 * await assertRejects(
 *   () => consumer.state("other.example"),
 *   SigError,
 *   "it is not on the list",
 * );
 * ```
 *
 * @throws {SigError} `invalid_identifier`, `address_not_allowed` and the like
 * for an invalid issuer; from the methods also `issuer_not_allowed`,
 * `overloaded`, `feed_stale` when the known state is too old and can't be
 * refreshed, `consistency_unavailable` for a `minSequence` that the feed has
 * not reached, `invalid_request` for malformed numbers, the four codes above,
 * and as `checkIssuer`. `invalid_identifier` also if the list has two URLs for
 * one issuer, and for an unlisted URL other than `/.well-known/sig.json` of its
 * host.
 * @throws {RangeError} for a `maxAgeMs` or `graceMs` that is not 0 or more, and for
 * malformed waiting limits.
 */
export function createConsumer(options: ConsumerOptions): Consumer {
  const { own, limits } = requireLimits(options);
  const now = options.now ?? (() => new Date());
  const { yieldToEventLoop, pins } = options;
  const workers = options.workers ?? new SignatureWorkers();
  const issuers: KnownIssuers = new KnownIssuers({
    issuers: options.issuers,
    anyIssuer: options.anyIssuer ?? false,
    policy: options,
    pins,
    waiting: { now, limits },
    async refresh(issuer, now, keepOnly) {
      const largeReads = issuer.isListed ? undefined : issuers.largeReads;
      const given = { ...options, workers, now, largeReads, keepOnly };
      try {
        return (await refreshIssuer(issuer, given)).observation;
      } finally {
        issuers.makeRoom(issuer);
      }
    },
  });

  return {
    verify: async (issuer) => (await observe(issuer, { maxAgeMs: 0 })).verified,
    async report(issuer, { waitFor = runImmediately } = {}) {
      const { refreshes, location, did, maxWaitMs } = issuers.find(issuer);
      return await waitFor(did, async () => {
        try {
          const { verified } = await waitAtMost(
            maxWaitMs,
            undefined,
            (ended) => refreshes.run(false, ended),
          );
          return validReport(verified);
        } catch (error) {
          if (!isFault(error)) throw error;
          const { onEvent: _, onProgress: __, ...policy } = options;
          const given = { ...policy, workers, now: now() };
          return await reportOf(error, location, given);
        }
      });
    },
    observe: (issuer, asked) => observe(issuer, asked),
    state: async (issuer, asked) =>
      (await observe(issuer, asked)).verified.state,
    check: async (issuer, question, asked) =>
      (await ask(issuer, question, asked)).answer,
    ask,
    watch(text, asked = {}) {
      const { location, did, isListed } = issuers.find(text);
      if (!isListed) {
        throw new SigError("issuer_not_allowed", {
          action: "watch",
          reason: "only issuers of the list are watched",
          context: { issuer: did },
        });
      }
      return watchIssuer(location, { ...options, now, ...asked });
    },
    async checkAny(asked, question) {
      // An invalid question fails before any issuer is asked.
      readQuestion(question);
      return await combineAnswers(asked.map((issuer) => ({
        issuer: nameOf(issuer, options),
        answer: async () => (await ask(issuer, question)).answer,
      })));
    },
  };

  function readQuestion(question: ConsumerQuestion) {
    const asked = parseQuestion(question, BOUNDS);
    return { asked, bounds: readBounds(question, own) };
  }

  async function observe(
    name: string | IssuerName,
    asked: ObserveOptions = {},
    bounds: Bounds = readBounds(asked, own),
  ): Promise<ObservedIssuer> {
    const issuer = issuers.find(name);
    const { waitFor, refresh, signal } = asked;
    signal?.throwIfAborted();
    const askedAt = now();
    const given = { workers, bounds, askedAt, waitFor, refresh, signal };
    const observing = { ...options, ...given };
    const observation = await observeIssuer(issuer, asked, observing);
    const { verified, observedAt, continuity } = observation;
    if (refresh !== false) {
      refreshAhead(issuer, observation, askedAt, bounds.maxAgeMs);
    }
    const freshness = freshnessOf(observation, askedAt, bounds.maxAgeMs);
    const { warnings } = verified;
    return { verified, observedAt, freshness, continuity, warnings };
  }

  /** Refreshes in the background a state that will soon be too old. */
  function refreshAhead(
    issuer: KnownIssuer,
    { observedAt }: Observation,
    at: Date,
    maxAgeMs: number,
  ): void {
    const { backOff, refreshes } = issuer;
    const { refreshAhead, oneAnswer } = options;
    if (refreshAhead === false || oneAnswer || refreshes.isBusy) return;
    const ageMs = at.getTime() - observedAt.getTime();
    const isDue = ageMs > maxAgeMs * REFRESH_AHEAD ||
      isDueToLoad(issuer, options);
    if (!isDue) return;
    // A failure is reported by the first question that can't be answered.
    backOff.ask(() => refreshes.run(false), false).catch(() => {});
  }

  async function ask(
    text: string | IssuerName,
    question: ConsumerQuestion,
    { waitFor, refresh }: AskOptions = {},
  ): Promise<AskedAnswer> {
    const { asked, bounds } = readQuestion(question);
    const { subject, asOf, at = null } = asked;
    const { signal } = question;
    const part = { subjects: [subject], asOf, at, waitFor, refresh, signal };
    const observation = await observe(text, part, bounds);
    const { verified, freshness, continuity } = observation;
    const basis = { now: now(), freshness, continuity };
    const answer = yieldToEventLoop === undefined
      ? answerFrom(verified, asked, basis)
      : await answerInSlices(verified, asked, basis, { yieldToEventLoop });
    return { answer, relationship: relationshipOf(verified, answer) };
  }
}

/** The part of its maximum age at which a state is refreshed in the background. */
const REFRESH_AHEAD = 0.75;

/** Returns the relationship that an answer about the present is based on. */
function relationshipOf(
  { state: { history } }: VerifiedIssuer,
  { matched_relationship_id: id, last_sequence: last }: CheckAnswer,
): RelationshipState | null {
  const versions = id === null ? undefined : history.versions.get(id);
  return versions?.findLast(({ state }) => state.last_sequence <= last)
    ?.state ??
    null;
}

/**
 * Returns the report of a failed refresh, with all faults of the published
 * documents.
 */
async function reportOf(
  error: SigError,
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifyReport> {
  const all = await reportIssuerOnce(location, options).catch((unread) => {
    // A contradiction to the pin is reported even if nothing can be read now.
    if (error.category !== "conflict") throw unread;
    return undefined;
  });
  if (all?.valid === false && error.category !== "conflict") return all;
  return invalidReport([error], {
    issuer: location.expectedIssuer ?? null,
    source: all?.source ?? sourceOf(location),
    verified_events: all?.verified_events ?? 0,
    warnings: all?.warnings ?? [],
  });
}

/**
 * Returns the issuer's name for an answer, even if it is not a valid issuer.
 */
function nameOf(
  issuer: string | IssuerName,
  { allowPrivate = false }: ConsumerOptions,
): string {
  try {
    return IssuerName.parse(issuer, { allowPrivate }).expectedIssuer;
  } catch (error) {
    if (!isSigError(error)) throw error;
    return (typeof issuer === "string" ? issuer : issuer.text).slice(0, 200);
  }
}

/** @throws {RangeError} */
function requireLimits({
  maxAgeMs = DEFAULT_MAX_AGE_MS,
  graceMs = 0,
  maxWaiting = 1024,
  maxWaitMs = 60_000,
}: ConsumerOptions) {
  const own = { maxAgeMs, graceMs };
  const limits = { maxWaiting, maxWaitMs };
  for (const [name, value] of Object.entries({ ...own, ...limits })) {
    const [min, max, rule] = name in own
      ? [0, Infinity, "0 or more"]
      : [1, MAX_TIMEOUT_MS, `1 to ${MAX_TIMEOUT_MS}`];
    if (value >= min && value <= max) continue;
    throw new RangeError(
      `Cannot create consumer: ${name} must be ${rule}, current value is ${value}`,
    );
  }
  return { own, limits };
}
