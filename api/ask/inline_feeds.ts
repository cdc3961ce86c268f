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
} from "@sig/consumer";
import type { Limits } from "@sig/core";
import { createTurns, type TurnsOptions } from "./turns.ts";

/** Verifies feeds that came in a request; nothing of them is remembered. */
export interface InlineFeeds {
  /**
   * Verifies, or throws the first fault.
   *
   * @throws {SigError} as `verifyIssuer`, and `overloaded`.
   */
  verify(feed: InlineFeed): Promise<VerifiedIssuer>;
  /**
   * Verifies and reports all faults.
   *
   * @throws {SigError} as `reportIssuer`, and `overloaded`.
   */
  report(feed: InlineFeed): Promise<VerifyReport>;
}

/** Options of {@linkcode createInlineFeeds}. */
export interface InlineFeedsOptions extends TurnsOptions {
  /** The clock: reports and answers say when they were made. */
  readonly now: () => Date;
  /** Bytes and events of one feed at most (PROTOCOL §8). */
  readonly limits: Limits;
  /** Awaited between slices of the work. */
  readonly breathe: () => Promise<void>;
}

/**
 * Characters of a feed up to which it needs no turn: a few slices of work, done
 * sooner than the line before it would move.
 */
const SMALL_FEED_LENGTH = 256 * 1024;

/** Whether a feed needs a turn. */
export function isLargeFeed({ events }: InlineFeed): boolean {
  return events.length > SMALL_FEED_LENGTH;
}

/** Makes what verifies inline feeds. */
export function createInlineFeeds(options: InlineFeedsOptions): InlineFeeds {
  const { limits, now, breathe } = options;
  const takeTurn = createTurns(options);
  // Slices between other requests, for feeds of a size that is bounded: workers
  // would take the cores that answer those.
  const workers = new SignatureWorkers({ maxWorkers: 0 });
  const inTurn = async <T>(
    feed: InlineFeed,
    verify: (
      location: IssuerLocation,
      options: VerifyIssuerOptions,
    ) => Promise<T>,
  ): Promise<T> => {
    const work = async () => {
      await breathe();
      return await verify(openInlineFeed(feed), {
        now: now(),
        limits,
        backend: "node",
        breathe,
        workers,
      });
    };
    return isLargeFeed(feed) ? await takeTurn(work) : await work();
  };
  return {
    verify: (feed) => inTurn(feed, verifyIssuer),
    report: (feed) => inTurn(feed, reportIssuer),
  };
}
