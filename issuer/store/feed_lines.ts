/** Reads the lines of an open feed, and their event ids. @module */

import type { FeedLineParser } from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import type { OpenFeed } from "./feed_store.ts";

/** A line, or the bytes after the last LF. */
export interface FeedLine {
  /** Number of bytes of the feed before it. */
  readonly offset: number;
  /** Its bytes, without the LF. */
  readonly bytes: Uint8Array;
  /** Whether an LF ends it; false only for a last, incomplete line. */
  readonly terminated: boolean;
}

/** Number of bytes per read. */
const CHUNK_BYTES = 1024 * 1024;
const LF = 0x0a;

/** Yields the lines of a feed from an offset on, reading it in chunks. */
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

/** Yields the complete lines of a feed, without their LF. */
export function* linesIn(feed: Uint8Array): Generator<Uint8Array, void, void> {
  let at = 0;
  for (let lf = feed.indexOf(LF); lf >= 0; lf = feed.indexOf(LF, at)) {
    yield feed.subarray(at, lf);
    at = lf + 1;
  }
}

/** A line within one chunk is not copied. */
function join(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : joinBytes(pieces);
}

/**
 * Finds event ids in the feed, because a row may be missing in the index. Reads
 * the feed on first use, and later only the appended lines. Needs about 100
 * bytes of memory per event, but only if callers choose event ids.
 */
export class FeedIds {
  readonly #ids = new Set<string>();
  #identity: string | undefined;
  #bytes = 0;

  /** Returns whether an event of the feed has this id. */
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

/** The line was verified before, so it is the JSON of an event. */
function idOf(payload: Uint8Array): string {
  const event = JSON.parse(decoder.decode(payload)) as {
    readonly event_id: unknown;
  };
  return String(event.event_id);
}
