/** Verifies inline feeds without blocking other requests. @module */

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

/** Verifies inline feeds, which come in a request's body; keeps nothing. */
export interface InlineFeeds {
  /**
   * Verifies a feed, or throws its first fault.
   *
   * @throws {SigError} as `verifyIssuer`, and `overloaded`.
   */
  verify(feed: InlineFeed, waitFor: WaitFor): Promise<VerifiedIssuer>;
  /**
   * Verifies a feed and reports all faults.
   *
   * @throws {SigError} as `reportIssuer`, and `overloaded`.
   */
  report(feed: InlineFeed, waitFor: WaitFor): Promise<VerifyReport>;
}

/** Options of {@linkcode createInlineFeeds}. */
interface InlineFeedsOptions {
  /** Maximum time that a large feed waits to be verified, in milliseconds. */
  readonly maxWaitMs: number;
  /** Returns the current time, for reports and answers. */
  readonly now: () => Date;
  /** Maximum bytes and events of one feed (docs/protocol.md §8). */
  readonly limits: Limits;
  /** Yields to the event loop between slices of the work. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/**
 * Maximum length in characters of a feed that doesn't queue: it needs only a
 * few slices of work, less than the wait would take.
 */
const SMALL_FEED_LENGTH = 256 * 1024;

/**
 * Creates a verifier of inline feeds. Large feeds are verified one at a time,
 * in their order of arrival: two concurrent ones would need twice the memory
 * and finish no sooner. A request doesn't occupy a slot while it waits.
 */
export function createInlineFeeds(options: InlineFeedsOptions): InlineFeeds {
  const { limits, now, yieldToEventLoop, maxWaitMs } = options;
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
    verify: (feed, waitFor) => inTurn(feed, waitFor, verifyIssuer),
    report: (feed, waitFor) => inTurn(feed, waitFor, reportIssuer),
  };
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
