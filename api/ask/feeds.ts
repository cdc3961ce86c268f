/** The feed that a request names: an issuer's, or an inline one. @module */

import {
  type Consumer,
  type InlineFeed,
  type IssuerLocation,
  type IssuerName,
  type ObservedIssuer,
  type ObserveOptions,
  openInlineFeed,
  reportIssuer,
  SignatureWorkers,
  verifyIssuer,
  type VerifyIssuerOptions,
  type VerifyReport,
  type WaitFor,
} from "@sig/consumer";
import { Semaphore } from "@sig/consumer/internal";
import { type Limits, SigError } from "@sig/core";
import type { SourceMembers } from "../schemas/question.ts";

/** A verified feed; an inline one has no age and no continuity. */
export type ObservedFeed =
  & Pick<ObservedIssuer, "verified">
  & Partial<Pick<ObservedIssuer, "freshness" | "continuity">>;

/** Verifies the feeds that requests name. Keeps nothing of inline feeds. */
export interface Feeds {
  /**
   * Returns the verified feed, or throws its first fault.
   *
   * @throws {SigError} as `Consumer.observe` or `verifyIssuer`, and
   * `overloaded`.
   */
  observe(
    request: SourceMembers,
    options: ObserveOptions & { readonly waitFor: WaitFor },
  ): Promise<ObservedFeed>;
  /**
   * Verifies a feed and reports all faults.
   *
   * @throws {SigError} as `Consumer.report` or `reportIssuer`, and
   * `overloaded`.
   */
  report(request: SourceMembers, waitFor: WaitFor): Promise<VerifyReport>;
}

/** Options of {@linkcode createFeeds}, for inline feeds. */
export interface FeedsOptions {
  /** Returns the current time, for reports and answers. */
  readonly now: () => Date;
  /** Maximum bytes and events of one feed (docs/protocol.md §8). */
  readonly limits: Limits;
  /** Yields to the event loop between slices of the work. */
  readonly yieldToEventLoop: () => Promise<void>;
  /**
   * Maximum time that a large feed waits to be verified, in milliseconds
   * (default: 15,000).
   */
  readonly maxWaitMs?: number;
}

/**
 * Maximum length in characters of a feed that doesn't queue: it needs only a
 * few slices of work, less than the wait would take.
 */
const SMALL_FEED_LENGTH = 256 * 1024;

/**
 * Creates the feeds of a service. Large inline feeds are verified one at a
 * time, in their order of arrival: two concurrent ones would need twice the
 * memory and finish no sooner. A request doesn't occupy a slot while it waits.
 *
 * @param consumer Queries issuers on the network.
 */
export function createFeeds(
  consumer: Pick<Consumer, "observe" | "report">,
  { limits, now, yieldToEventLoop, maxWaitMs = 15_000 }: FeedsOptions,
): Feeds {
  const turns = new Semaphore({
    maxWorking: 1,
    maxWaiting: Infinity,
    maxWaitMs,
    refuse: (retryAfterSeconds) => waitedTooLong(maxWaitMs, retryAfterSeconds),
  });
  // Signatures are verified in slices on this thread, since feeds have limited
  // size: workers would take the cores that answer other requests.
  const workers = new SignatureWorkers({ maxWorkers: 0 });
  const inTurn = async <T>(
    feed: InlineFeed,
    waitFor: WaitFor,
    verify: (
      location: IssuerLocation,
      options: VerifyIssuerOptions,
    ) => Promise<T>,
  ): Promise<T> => {
    const work = async () => {
      await yieldToEventLoop();
      return await verify(openInlineFeed(feed), {
        now: now(),
        limits,
        backend: "node",
        yieldToEventLoop,
        workers,
      });
    };
    if (feed.events.length <= SMALL_FEED_LENGTH) return await work();
    return await waitFor("large feeds", async () => {
      await turns.enter();
      try {
        return await work();
      } finally {
        turns.leave();
      }
    });
  };
  return {
    observe: (request, options) =>
      request.feed === undefined
        ? consumer.observe(issuerOf(request), options)
        : inTurn(request.feed, options.waitFor, verifyIssuer)
          .then((verified) => ({ verified })),
    report: (request, waitFor) =>
      request.feed === undefined
        ? consumer.report(issuerOf(request), { waitFor })
        : inTurn(request.feed, waitFor, reportIssuer),
  };
}

/** Returns the issuer or URL that a request without a feed names. */
export function issuerOf({ issuer, sig }: SourceMembers): IssuerName {
  return (issuer ?? sig)!;
}

function waitedTooLong(maxWaitMs: number, retryAfterSeconds: number): SigError {
  return new SigError("overloaded", {
    action: "answer",
    reason: `other large feeds were verified for ${
      maxWaitMs / 1000
    } s before this one`,
    context: {
      retry_after_seconds: retryAfterSeconds,
      hint: "Ask again later, or publish the feed and name its issuer.",
    },
  });
}
