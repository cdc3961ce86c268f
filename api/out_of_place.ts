/** Waiting for issuers, and for heavy work, outside of a request's place. @module */

import type { Consumer, ObserveOptions } from "@sig/consumer";
import type { Exchange } from "./http/mod.ts";
import { type InlineFeeds, isLargeFeed } from "./inline_feeds.ts";

/** What requests are answered from. */
export interface Sources {
  /** Issuers on the network. */
  readonly consumer: Consumer;
  /** Feeds that come along. */
  readonly inline: InlineFeeds;
}

/** An answer of now. */
const NOW: ObserveOptions = Object.freeze({ maxAgeMs: 0 });

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
  consumer: Consumer,
  exchange: Exchange,
): Consumer {
  const ask = async <T>(
    issuer: string,
    bounds: ObserveOptions,
    work: () => Promise<T>,
  ): Promise<T> => {
    const asked = consumer.wouldAsk(issuer, bounds);
    return await (asked === undefined ? work() : exchange.waitFor(asked, work));
  };
  return {
    wouldAsk: (issuer, bounds) => consumer.wouldAsk(issuer, bounds),
    verify: (issuer) => ask(issuer, NOW, () => consumer.verify(issuer)),
    report: (issuer) => ask(issuer, NOW, () => consumer.report(issuer)),
    observe: (issuer, bounds = {}) =>
      ask(issuer, bounds, () => consumer.observe(issuer, bounds)),
    state: (issuer, bounds = {}) =>
      ask(issuer, bounds, () => consumer.state(issuer, bounds)),
    check(issuer, question) {
      const { maxAgeSeconds, minSequence } = question;
      const maxAgeMs = maxAgeSeconds && maxAgeSeconds * 1000;
      return ask(
        issuer,
        { maxAgeMs, minSequence },
        () => consumer.check(issuer, question),
      );
    },
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
