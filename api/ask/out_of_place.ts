/** Waiting for issuers, and for heavy work, outside of a request's place. @module */

import type { ObserveOptions, WaitFor } from "@sig/consumer";
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

type Issuer = Parameters<IssuerObserver["observe"]>[0];
type Observed = ReturnType<IssuerObserver["observe"]>;
type InlineFeed = Parameters<InlineFeeds["verify"]>[0];

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
    inline: new InlineOutOfPlace(sources.inline, exchange),
  };
}

/** Of {@linkcode outOfPlace}, issuers alone. */
export function consumerOutOfPlace(
  consumer: IssuerObserver,
  exchange: Exchange,
): IssuerObserver {
  return new ConsumerOutOfPlace(consumer, exchange);
}

/** A class, since one is made for each request. */
class ConsumerOutOfPlace implements IssuerObserver {
  readonly #consumer: IssuerObserver;
  readonly #waitFor: WaitFor;

  constructor(consumer: IssuerObserver, exchange: Exchange) {
    this.#consumer = consumer;
    this.#waitFor = waitingOf(exchange);
  }

  report(issuer: Issuer): ReturnType<IssuerObserver["report"]> {
    return this.#consumer.report(issuer, { waitFor: this.#waitFor });
  }

  observe(issuer: Issuer, bounds?: ObserveOptions): Observed {
    return this.#consumer.observe(issuer, {
      ...bounds,
      waitFor: this.#waitFor,
    });
  }

  state(
    issuer: Issuer,
    bounds?: ObserveOptions,
  ): ReturnType<IssuerObserver["state"]> {
    return this.#consumer.state(issuer, { ...bounds, waitFor: this.#waitFor });
  }
}

/**
 * Not written where it is assigned: V8 makes a function that is assigned to a
 * property among its old objects, where it would keep the whole request, and
 * make the next ones old too, until a collection of them all.
 */
function waitingOf(exchange: Exchange): WaitFor {
  return (issuer, work) => exchange.waitFor(issuer, work);
}

class InlineOutOfPlace implements InlineFeeds {
  readonly #inline: InlineFeeds;
  readonly #exchange: Exchange;

  constructor(inline: InlineFeeds, exchange: Exchange) {
    this.#inline = inline;
    this.#exchange = exchange;
  }

  verify(feed: InlineFeed): ReturnType<InlineFeeds["verify"]> {
    const work = () => this.#inline.verify(feed);
    return isLargeFeed(feed)
      ? this.#exchange.waitFor(LARGE_FEEDS, work)
      : work();
  }

  report(feed: InlineFeed): ReturnType<InlineFeeds["report"]> {
    const work = () => this.#inline.report(feed);
    return isLargeFeed(feed)
      ? this.#exchange.waitFor(LARGE_FEEDS, work)
      : work();
  }
}
