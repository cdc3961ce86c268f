/** Waiting for issuers, and for heavy work, outside of a request's place. @module */

import type {
  IssuerName,
  ObservedIssuer,
  ObserveOptions,
  VerifyReport,
} from "@sig/consumer";
import type { FeedState } from "@sig/core";
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
  consumer: IssuerObserver,
  exchange: Exchange,
): IssuerObserver {
  return new OutOfPlaceConsumer(consumer, exchange);
}

/** A class, since one is made for each request. */
class OutOfPlaceConsumer implements IssuerObserver {
  readonly #consumer: IssuerObserver;
  readonly #exchange: Exchange;

  constructor(consumer: IssuerObserver, exchange: Exchange) {
    this.#consumer = consumer;
    this.#exchange = exchange;
  }

  wouldAsk(
    issuer: string | IssuerName,
    bounds?: ObserveOptions,
  ): string | undefined {
    return this.#consumer.wouldAsk(issuer, bounds);
  }

  report(issuer: string | IssuerName): Promise<VerifyReport> {
    return this.#ask(issuer, NOW, () => this.#consumer.report(issuer));
  }

  observe(
    issuer: string | IssuerName,
    bounds: ObserveOptions = {},
  ): Promise<ObservedIssuer> {
    const work = () => this.#consumer.observe(issuer, bounds);
    return this.#ask(issuer, bounds, work);
  }

  state(
    issuer: string | IssuerName,
    bounds: ObserveOptions = {},
  ): Promise<FeedState> {
    const work = () => this.#consumer.state(issuer, bounds);
    return this.#ask(issuer, bounds, work);
  }

  async #ask<T>(
    issuer: string | IssuerName,
    bounds: ObserveOptions,
    work: () => Promise<T>,
  ): Promise<T> {
    const asked = this.#consumer.wouldAsk(issuer, bounds);
    return await (asked === undefined
      ? work()
      : this.#exchange.waitFor(asked, work));
  }
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
