/** The lines of an open feed, from an offset on, and their event ids. @module */

import type { FeedLineParser } from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import type { OpenFeed } from "./feed_store.ts";

/** A line, or what stands behind the last LF. */
export interface FeedLine {
  /** Bytes of the feed before it. */
  readonly offset: number;
  /** Its bytes, without the LF. */
  readonly bytes: Uint8Array;
  /** Whether an LF ends it; false only for a last one that is not empty. */
  readonly terminated: boolean;
}

/** Bytes read at once. */
const CHUNK_BYTES = 1024 * 1024;
const LF = 0x0a;

/** Reads the feed in pieces, so that its size does not matter. */
export async function* readLines(
  feed: OpenFeed,
  from: number,
): AsyncGenerator<FeedLine, void, void> {
  const end = feed.size;
  let start = from;
  let pieces: Uint8Array[] = [];
  for (let at = from; at < end;) {
    const chunk = await feed.read(at, Math.min(CHUNK_BYTES, end - at));
    if (chunk.length === 0) break;
    let begin = 0;
    for (
      let lf = chunk.indexOf(LF);
      lf >= 0;
      lf = chunk.indexOf(LF, begin)
    ) {
      pieces.push(chunk.subarray(begin, lf));
      yield { offset: start, bytes: join(pieces), terminated: true };
      pieces = [];
      begin = lf + 1;
      start = at + begin;
    }
    if (begin < chunk.length) pieces.push(chunk.subarray(begin));
    at += chunk.length;
  }
  if (pieces.length === 0) return;
  yield { offset: start, bytes: join(pieces), terminated: false };
}

/** A line within one chunk is not copied. */
function join(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : joinBytes(pieces);
}

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
