/** Waiting for issuers, and for heavy work, outside of a request's place. @module */

import type { WaitFor } from "@sig/consumer";
import type { IssuerObserver } from "./answer_check.ts";
import type { Exchange } from "../http/mod.ts";
import { type InlineFeeds, isLargeFeed } from "./inline_feeds.ts";

/** What requests are answered from. */
export interface Sources {
  /** Issuers on the network. */
  readonly consumer: IssuerObserver;
  /** Feeds that come along. */
  readonly inline: InlineFeeds;
}

/** Whoever waits for the line before large feeds. */
const LARGE_FEEDS = "large feeds";

/**
 * The same sources for one request, which leaves its place while it waits: an
 * issuer that is silent holds up the questions about it, and no others. What is
 * known already is answered from at once.
 *
 * @throws {SigError} from the methods also `overloaded`, when too many wait for
 * the same issuer, or too many requests of this client wait.
 */
export function outOfPlace(sources: Sources, exchange: Exchange): Sources {
  return {
    consumer: consumerOutOfPlace(sources.consumer, exchange),
    inline: inlineOutOfPlace(sources.inline, exchange),
  };
}

/** Of {@linkcode outOfPlace}, issuers alone. */
export function consumerOutOfPlace(
  consumer: IssuerObserver,
  exchange: Exchange,
): IssuerObserver {
  const waitFor: WaitFor = (issuer, work) => exchange.waitFor(issuer, work);
  return {
    report: (issuer) => consumer.report(issuer, { waitFor }),
    observe: (issuer, bounds) =>
      consumer.observe(issuer, { ...bounds, waitFor }),
    state: (issuer, bounds) => consumer.state(issuer, { ...bounds, waitFor }),
  };
}

function inlineOutOfPlace(
  inline: InlineFeeds,
  exchange: Exchange,
): InlineFeeds {
  return {
    verify: (feed) =>
      isLargeFeed(feed)
        ? exchange.waitFor(LARGE_FEEDS, () => inline.verify(feed))
        : inline.verify(feed),
    report: (feed) =>
      isLargeFeed(feed)
        ? exchange.waitFor(LARGE_FEEDS, () => inline.report(feed))
        : inline.report(feed),
  };
}
