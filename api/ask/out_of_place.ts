/** Waiting for issuers, and for heavy work, outside of a request's place. @module */

import type { ObserveOptions, WaitFor } from "@sig/consumer";
import type { IssuerObserver } from "./answer_check.ts";
import type { RequestBudget } from "../http/mod.ts";
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
export function outOfPlace(sources: Sources, budget: RequestBudget): Sources {
  return {
    consumer: consumerOutOfPlace(sources.consumer, budget),
    inline: new InlineOutOfPlace(sources.inline, budget),
  };
}

/** Of {@linkcode outOfPlace}, issuers alone. */
export function consumerOutOfPlace(
  consumer: IssuerObserver,
  budget: RequestBudget,
): IssuerObserver {
  return new ConsumerOutOfPlace(consumer, budget);
}

/** A class, since one is made for each request. */
class ConsumerOutOfPlace implements IssuerObserver {
  readonly #consumer: IssuerObserver;
  readonly #waitFor: WaitFor;

  constructor(consumer: IssuerObserver, budget: RequestBudget) {
    this.#consumer = consumer;
    this.#waitFor = waitingOf(budget);
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
function waitingOf(budget: RequestBudget): WaitFor {
  return (issuer, work) => budget.waitFor(issuer, work);
}

class InlineOutOfPlace implements InlineFeeds {
  readonly #inline: InlineFeeds;
  readonly #budget: RequestBudget;

  constructor(inline: InlineFeeds, budget: RequestBudget) {
    this.#inline = inline;
    this.#budget = budget;
  }

  verify(feed: InlineFeed): ReturnType<InlineFeeds["verify"]> {
    const work = () => this.#inline.verify(feed);
    return isLargeFeed(feed) ? this.#budget.waitFor(LARGE_FEEDS, work) : work();
  }

  report(feed: InlineFeed): ReturnType<InlineFeeds["report"]> {
    const work = () => this.#inline.report(feed);
    return isLargeFeed(feed) ? this.#budget.waitFor(LARGE_FEEDS, work) : work();
  }
}
