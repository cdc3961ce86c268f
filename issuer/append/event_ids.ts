/** The event ids of a feed, from the feed itself. @module */

import type { FeedLineParser } from "@sig/core";
import { readLines } from "../store/feed_lines.ts";
import type { OpenFeed } from "../store/feed_store.ts";

/**
 * Knows every `event_id` of a feed without asking the index: that the index has
 * none proves nothing, since a row can be missing. The feed is read once, when
 * it is first asked, and from then on only what was added.
 *
 * Costs some 100 bytes of memory an event, for those who name their event ids;
 * ids that are generated are new anyway.
 */
export class FeedIds {
  readonly #ids = new Set<string>();
  #identity: string | undefined;
  #bytes = 0;

  /** Whether an event of the feed has this id. */
  async has(
    id: string,
    feed: OpenFeed,
    parseLine: FeedLineParser,
  ): Promise<boolean> {
    if (feed.identity !== this.#identity || feed.size < this.#bytes) {
      this.#ids.clear();
      this.#identity = feed.identity;
      this.#bytes = 0;
    }
    for await (const { bytes, offset } of readLines(feed, this.#bytes)) {
      this.#ids.add(idOf(parseLine(bytes).payload));
      this.#bytes = offset + bytes.length + 1;
    }
    return this.#ids.has(id);
  }
}

const decoder = new TextDecoder();

/** The line was verified before: it is the JSON of an event. */
function idOf(payload: Uint8Array): string {
  const event = JSON.parse(decoder.decode(payload)) as {
    readonly event_id: unknown;
  };
  return String(event.event_id);
}
