/** Events of the feed that the index points to. @module */

import {
  createFeedLineParser,
  type Limits,
  parseEventPayload,
  type SigEvent,
} from "@sig/core";
import { type IndexedRelationship, IndexError } from "../index/feed_index.ts";
import type { OpenFeed } from "../store/feed_store.ts";

/** Where a line stands. */
interface LinePlace {
  readonly bytes: number;
  readonly offset: number;
}

/**
 * The event in a place of the feed, which was verified when the index learned
 * of it; undefined where no event is.
 */
export async function readEventAt(
  { bytes, offset }: LinePlace,
  feed: OpenFeed,
  limits: Limits,
): Promise<SigEvent | undefined> {
  if (offset < 0 || bytes < 1 || offset + bytes >= feed.size) return undefined;
  const line = await feed.read(offset, bytes);
  try {
    const { payload } = createFeedLineParser({ limits })(line);
    return parseEventPayload(payload) as SigEvent;
  } catch {
    return undefined;
  }
}

/**
 * The last event of a relationship that the index has. So the index can make
 * nothing up; to hide a later event is all that a wrong one can do.
 *
 * @throws {IndexError} when the feed's line does not say what the index says.
 */
export async function readLastEvent(
  found: IndexedRelationship,
  feed: OpenFeed,
  limits: Limits,
): Promise<SigEvent> {
  const event = await readEventAt(found, feed, limits);
  const isRevoked = event?.event_type === "relationship.revoke";
  if (
    event?.relationship_id === found.relationship_id &&
    event.sequence === found.last_sequence &&
    isRevoked === (found.status === "revoked") &&
    (isRevoked || event.subject === found.subject)
  ) return event;
  throw new IndexError("Cannot find a relationship in its place");
}
