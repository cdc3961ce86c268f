/** Feeds that come in requests, verified without stopping others. @module */

import {
  type InlineFeed,
  type IssuerLocation,
  openInlineFeed,
  reportIssuer,
  SignatureWorkers,
  type VerifiedIssuer,
  verifyIssuer,
  type VerifyIssuerOptions,
  type VerifyReport,
  type WaitFor,
} from "@sig/consumer";
import { Semaphore } from "@sig/consumer/internal";
import { type Limits, SigError } from "@sig/core";

/** Verifies feeds that came in a request; nothing of them is remembered. */
export interface InlineFeeds {
  /**
   * Verifies, or throws the first fault.
   *
   * @throws {SigError} as `verifyIssuer`, and `overloaded`.
   */
  verify(feed: InlineFeed, waitFor: WaitFor): Promise<VerifiedIssuer>;
  /**
   * Verifies and reports all faults.
   *
   * @throws {SigError} as `reportIssuer`, and `overloaded`.
   */
  report(feed: InlineFeed, waitFor: WaitFor): Promise<VerifyReport>;
}

/** Options of {@linkcode createInlineFeeds}. */
interface InlineFeedsOptions {
  /** Milliseconds that a large feed waits for its turn at most. */
  readonly maxWaitMs: number;
  /** The clock: reports and answers say when they were made. */
  readonly now: () => Date;
  /** Bytes and events of one feed at most (docs/protocol.md §8). */
  readonly limits: Limits;
  /** Awaited between slices of the work. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/**
 * Characters of a feed up to which it needs no turn: a few slices of work, done
 * sooner than the line before it would move.
 */
const SMALL_FEED_LENGTH = 256 * 1024;

/**
 * Makes what verifies inline feeds: one large feed at a time, first come, first
 * served. Two at a time would hold two states and be no faster. A request waits
 * for its turn without a place of the service.
 */
export function createInlineFeeds(options: InlineFeedsOptions): InlineFeeds {
  const { limits, now, yieldToEventLoop, maxWaitMs } = options;
  const turns = new Semaphore({
    maxWorking: 1,
    maxWaiting: Infinity,
    maxWaitMs,
    refuse: (retryAfterSeconds) => waitedTooLong(maxWaitMs, retryAfterSeconds),
  });
  // Slices between other requests, for feeds of a size that is bounded: workers
  // would take the cores that answer those.
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
    verify: (feed, waitFor) => inTurn(feed, waitFor, verifyIssuer),
    report: (feed, waitFor) => inTurn(feed, waitFor, reportIssuer),
  };
}

function waitedTooLong(maxWaitMs: number, retryAfterSeconds: number): SigError {
  return new SigError(
    "overloaded",
    `Cannot answer: other large feeds were verified for ${
      maxWaitMs / 1000
    } s before this one`,
    {
      context: {
        retry_after_seconds: retryAfterSeconds,
        hint: "Ask again later, or publish the feed and name its issuer.",
      },
    },
  );
}
