/** A consumer that stays: one verified state an issuer (PROTOCOL §6). @module */

import {
  type CheckAnswer,
  type FeedState,
  formatInstant,
  type Freshness,
  instantOf,
  isSigError,
  quote,
  SigError,
} from "@sig/core";
import {
  answerFrom,
  checkQuestion,
  DEFAULT_MAX_AGE_SECONDS,
  type IssuerQuestion,
} from "./check_issuer.ts";
import type { FetchPolicy } from "./fetch_options.ts";
import type { IssuerLocation, LoadIssuerOptions } from "./load_issuer.ts";
import { openSource } from "./open_source.ts";
import { parseSource } from "./source.ts";
import type { FeedPolicy } from "./verify_feed.ts";
import { type VerifiedIssuer, verifyIssuer } from "./verify_issuer.ts";

/** Options of {@linkcode createConsumer}. */
export interface ConsumerOptions
  extends FeedPolicy, LoadIssuerOptions, FetchPolicy {
  /** The issuers that may be asked: did:web, host or https URL of `sig.json`. */
  readonly issuers: readonly string[];
  /** How old a state may be, in milliseconds; 60,000 unless told. */
  readonly maxAge?: number | undefined;
  /** The clock; `() => new Date()` unless told. */
  readonly now?: (() => Date) | undefined;
}

/** A consumer of a fixed list of issuers. */
export interface Consumer {
  /** Fetches the issuer now, whatever the age of what is known. */
  verify(issuer: string): Promise<VerifiedIssuer>;
  /** The issuer's state, at most `maxAge` old. */
  state(issuer: string): Promise<FeedState>;
  /** Answers a question from a state that is at most `maxAge` old. */
  check(issuer: string, question: IssuerQuestion): Promise<CheckAnswer>;
}

/** An issuer as it was at one time. */
interface Observation {
  readonly verified: VerifiedIssuer;
  readonly observedAt: Date;
}

/** What is known of one issuer. */
interface Known {
  latest?: Observation;
  refresh?: Promise<Observation> | undefined;
}

/**
 * Makes a consumer for a running process. Concurrent questions share one fetch;
 * failures are not remembered: the next question tries again.
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
 * for an issuer that can't be one; from the methods also `issuer_not_allowed`,
 * `feed_stale` when what is known is too old and can't be refreshed, and as
 * `checkIssuer`.
 */
export function createConsumer(options: ConsumerOptions): Consumer {
  const maxAgeMs = options.maxAge ?? DEFAULT_MAX_AGE_SECONDS * 1000;
  const now = options.now ?? (() => new Date());
  const locate = (issuer: string) => locateIssuer(issuer, options);
  const known = new Map<string, Known>(
    options.issuers.map((issuer) => [locate(issuer).metadataRef, {}]),
  );

  const find = (issuer: string) => {
    const location = locate(issuer);
    const entry = known.get(location.metadataRef);
    if (entry !== undefined) return { location, entry };
    throw new SigError(
      "issuer_not_allowed",
      `Cannot ask issuer ${quote(issuer)}: it is not on the list`,
      { context: { issuer: issuer.slice(0, 200) } },
    );
  };

  /** One fetch for all who ask while it runs. */
  const refresh = (issuer: string): Promise<Observation> => {
    const { location, entry } = find(issuer);
    entry.refresh ??= (async () => {
      const observedAt = now();
      try {
        const verified = await verifyIssuer(location, {
          ...options,
          now: observedAt,
        });
        entry.latest = { verified, observedAt };
        return entry.latest;
      } finally {
        entry.refresh = undefined;
      }
    })();
    return entry.refresh;
  };

  const current = async (issuer: string) => {
    const { entry } = find(issuer);
    const { latest } = entry;
    const at = now();
    if (latest && maxAgeMs > 0 && isFresh(latest.observedAt, at, maxAgeMs)) {
      return { ...latest, now: at };
    }
    try {
      return { ...await refresh(issuer), now: now() };
    } catch (error) {
      const stale = latest !== undefined && maxAgeMs > 0 &&
        isSigError(error) && error.category === "unavailable";
      throw stale ? feedStale(latest.observedAt, maxAgeMs, error) : error;
    }
  };

  return {
    async verify(issuer) {
      return (await refresh(issuer)).verified;
    },
    async state(issuer) {
      return (await current(issuer)).verified.state;
    },
    async check(issuer, question) {
      checkQuestion(question);
      const { verified, observedAt, now } = await current(issuer);
      const freshness: Freshness = {
        observed_at: formatInstant(instantOf(observedAt)),
        age_seconds: Math.floor(ageMs(observedAt, now) / 1000),
        max_age_seconds: maxAgeMs / 1000,
        status: "fresh",
      };
      return answerFrom(verified, question, now, freshness);
    },
  };
}

/**
 * Files are refused: they prove no origin, so every one of them could be asked
 * in the place of any other.
 */
function locateIssuer(issuer: string, options: FetchPolicy): IssuerLocation {
  const allowPrivate = options.allowPrivate ?? false;
  const source = parseSource(issuer, { allowPrivate });
  if (source.kind === "did" || source.kind === "url") {
    return openSource(source, options);
  }
  throw new SigError(
    "invalid_identifier",
    `Cannot ask issuer ${
      quote(issuer)
    }: it must be a did:web, a host name or an https URL`,
    { context: { identifier: issuer.slice(0, 200) } },
  );
}

/** A clock that was set back must not keep an old state fresh for ever. */
function isFresh(observedAt: Date, now: Date, maxAgeMs: number): boolean {
  const age = now.getTime() - observedAt.getTime();
  return age >= 0 && age <= maxAgeMs;
}

function ageMs(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime());
}

function feedStale(observedAt: Date, maxAgeMs: number, cause: SigError) {
  return new SigError(
    "feed_stale",
    `Cannot answer: what is known is older than ${
      maxAgeMs / 1000
    } s, and refreshing it failed (${cause.code})`,
    {
      context: {
        observed_at: formatInstant(instantOf(observedAt)),
        reason: cause.code,
      },
      cause,
    },
  );
}
