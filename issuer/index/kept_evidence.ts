/** Keeping what an index has known when the index itself is of no use. @module */

import { type FeedIndex, type FeedMark, IndexError } from "./feed_index.ts";

/**
 * Empties an index that can't be used, but for the mark: that it has known more
 * than the feed holds must not be forgotten. It fits no feed any more.
 */
export function keepEvidence(index: FeedIndex): void {
  let mark: FeedMark | undefined;
  try {
    mark = index.mark();
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
  }
  index.reset();
  if (mark !== undefined) putEvidence(index, mark);
}

/** Keeps what an index has known, in an index that was reset. */
export function putEvidence(index: FeedIndex, mark: FeedMark): void {
  try {
    index.add([], { ...mark, identity: "" });
  } catch (error) {
    // An index that takes nothing has nothing to say.
    if (!(error instanceof IndexError)) throw error;
  }
}
