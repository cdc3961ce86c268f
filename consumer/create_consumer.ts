/** A consumer that stays: one verified state an issuer (docs/protocol.md §6). @module */

import {
  type CheckAnswer,
  isSigError,
  parseQuestion,
  SigError,
} from "@sig/core";
import { answerFrom, answerInSlices } from "./ask/answer_from.ts";
import { combineAnswers } from "./ask/combine_answers.ts";
import type {
  Consumer,
  ConsumerOptions,
  ConsumerQuestion,
} from "./consumer.ts";
import { DEFAULT_MAX_AGE_SECONDS } from "./ask/check_issuer.ts";
import {
  DEFAULT_FOLLOW_LIMITS,
  FollowedIssuers,
} from "./follow/followed_issuers.ts";
import { IssuerName } from "./read/source.ts";
import { MAX_TIMEOUT_MS } from "./fetch/network_budget.ts";
import {
  atOnce,
  freshnessOf,
  observedWithin,
  observeIssuer,
  readBounds,
} from "./follow/observe_issuer.ts";
import { watchIssuer } from "./follow/watch_issuer.ts";
import { observeState } from "./follow/observed_state.ts";
import { refreshIssuer } from "./follow/refresh_issuer.ts";
import {
  DEFAULT_WAITING_LIMITS,
  type WaitingLimits,
} from "./follow/refresh_queue.ts";
import { SignatureWorkers } from "./verify/signature_workers.ts";
import { validReport } from "./verify/verify_report.ts";

/**
 * Makes a consumer for a running process. It fetches and verifies only what is
 * new, and remembers what it verified: an issuer that takes back, rewrites or
 * re-signs its history is told of (`feed_rolled_back`, `key_replaced`,
 * `key_withdrawn`, `feed_rewritten`), and not answered from, until it serves
 * the remembered history again. (docs/protocol.md §6)
 *
 * - Who asks while a refresh is under way shares it, unless it began longer ago
 *   than the state may be old. Who must have an answer of now (`verify`,
 *   `report`, max age 0, `minSequence`) shares the next one.
 * - The age counts when the question is asked, in `freshness` too: a slow fetch
 *   makes nothing stale, and is no reason to fetch again.
 * - Who asks while a refresh is under way that then fails shares the failure.
 *   At most `maxWaiting` questions wait for one issuer (`overloaded`), each for
 *   at most `maxWaitMs` (`fetch_timeout`): a silent issuer is no burden on
 *   questions about others.
 * - A failure is not remembered: the next question tries again. While an issuer
 *   can't be reached, a state that is young enough still answers. After a fault
 *   or a contradiction nothing does until a refresh was in order.
 *
 * @example Only the issuers of the list are ever asked
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
 * for an issuer that can't be one; from the methods also `issuer_not_allowed`, `overloaded`,
 * `feed_stale` when what is known is too old and can't be refreshed,
 * `consistency_unavailable` for a `minSequence` that the feed has not reached,
 * `invalid_request` for numbers that are none, the four codes above, and as
 * `checkIssuer`. `invalid_identifier` also for two places of one issuer on the
 * list, and for a URL that is on no list and is not its host's own `sig.json`.
 * @throws {RangeError} for a `maxAge` that is not 0 or more, and for waiting
 * limits that are none.
 */
export function createConsumer(options: ConsumerOptions): Consumer {
  const ownMaxAgeMs = options.maxAge ?? DEFAULT_MAX_AGE_SECONDS * 1000;
  if (!(ownMaxAgeMs >= 0)) {
    throw new RangeError(
      `Cannot create consumer: maxAge must be 0 or more, current value is ${ownMaxAgeMs}`,
    );
  }
  const now = options.now ?? (() => new Date());
  const waiting = requireWaitingLimits(options);
  const { breathe, pins } = options;
  const workers = options.workers ?? new SignatureWorkers();
  const issuers = new FollowedIssuers({
    issuers: options.issuers,
    anyIssuer: options.anyIssuer ?? false,
    limits: DEFAULT_FOLLOW_LIMITS,
    policy: options,
    refresh: async (location, record, turn) => {
      const told = { ...options, workers, ...turn };
      if (pins === undefined || turn.allowance !== undefined) {
        return await refreshIssuer(location, record, told);
      }
      const { refreshRemembered } = await import(
        "./follow/refresh_remembered.ts"
      );
      return await refreshRemembered(pins, location, told);
    },
    queue: { now, limits: waiting },
  });

  return {
    async verify(issuer) {
      const known = issuers.find(issuer);
      const { verified } = await observeState(known, {}, options, async () => {
        const outcome = await known.refreshes.next();
        if (outcome.observation === undefined) throw outcome.error;
        return outcome.observation;
      });
      return verified;
    },
    async report(issuer, { waitFor = atOnce } = {}) {
      const { refreshes, location } = issuers.find(issuer);
      const outcome = await waitFor(
        location.expectedIssuer,
        () => refreshes.next({ report: true }),
      );
      if (outcome.observation) return validReport(outcome.observation.verified);
      if (outcome.report === undefined) throw outcome.error;
      return outcome.report;
    },
    async observe(issuer, asked = {}) {
      const bounds = readBounds(asked, ownMaxAgeMs);
      const askedAt = now();
      const known = issuers.find(issuer);
      // Mostly it is known, and there is nothing to wait for.
      let observation = observedWithin(known, bounds, askedAt);
      let verified = observation?.verified;
      if (
        observation === undefined || verified === undefined ||
        observation.stored !== undefined
      ) {
        ({ observation, verified } = await observeState(
          known,
          asked,
          options,
          () => observeIssuer(known, bounds, askedAt, asked.waitFor),
        ));
      }
      const { observedAt, continuity } = observation;
      return {
        verified,
        observedAt,
        freshness: freshnessOf(observation, askedAt, bounds.maxAgeMs),
        continuity,
        warnings: verified.warnings,
      };
    },
    async state(issuer, asked = {}) {
      const bounds = readBounds(asked, ownMaxAgeMs);
      const known = issuers.find(issuer);
      const { verified } = await observeState(
        known,
        asked,
        options,
        () => observeIssuer(known, bounds, now(), asked.waitFor),
      );
      return verified.state;
    },
    check,
    watch(text, asked = {}) {
      const { location, allowance } = issuers.find(text);
      if (allowance !== undefined) {
        throw new SigError(
          "issuer_not_allowed",
          "Cannot watch: only issuers of the list are watched",
          { context: { issuer: location.expectedIssuer } },
        );
      }
      return watchIssuer(location, { ...options, now, ...asked });
    },
    async checkAny(asked, question) {
      // A wrong question is wrong to all of them.
      parseQuestion(question);
      return await combineAnswers(asked.map((issuer) => ({
        issuer: nameOf(issuer, options),
        answer: () => check(issuer, question),
      })));
    },
  };

  async function check(
    text: string | IssuerName,
    question: ConsumerQuestion,
  ): Promise<CheckAnswer> {
    const { maxAgeSeconds, minSequence } = question;
    const maxAgeMs = maxAgeSeconds && maxAgeSeconds * 1000;
    const bounds = readBounds({ maxAgeMs, minSequence }, ownMaxAgeMs);
    const issuer = issuers.find(text);
    const asked = parseQuestion(question);
    const askedAt = now();
    let at = askedAt;
    let observation = observedWithin(issuer, bounds, at);
    let verified = observation?.verified;
    if (observation === undefined || observation.stored !== undefined) {
      const part = { subjects: [asked.subject], asOf: asked.asOf };
      ({ observation, verified } = await observeState(
        issuer,
        part,
        options,
        () => observeIssuer(issuer, bounds, askedAt),
      ));
      at = now();
    }
    const { continuity } = observation;
    const freshness = freshnessOf(observation, askedAt, bounds.maxAgeMs);
    const basis = { now: at, freshness, continuity };
    return breathe === undefined
      ? answerFrom(verified!, asked, basis)
      : await answerInSlices(verified!, asked, basis, { breathe });
  }
}

/** As answers say it, also of one that can't be an issuer. */
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

function requireWaitingLimits(
  { maxWaiting, maxWaitMs }: Partial<WaitingLimits>,
): WaitingLimits {
  const limits = {
    maxWaiting: maxWaiting ?? DEFAULT_WAITING_LIMITS.maxWaiting,
    maxWaitMs: maxWaitMs ?? DEFAULT_WAITING_LIMITS.maxWaitMs,
  };
  for (const [name, value] of Object.entries(limits)) {
    if (value >= 1 && value <= MAX_TIMEOUT_MS) continue;
    throw new RangeError(
      `Cannot create consumer: ${name} must be 1 to ${MAX_TIMEOUT_MS}, ` +
        `current value is ${value}`,
    );
  }
  return limits;
}
