/** What a feed says of one relationship, or one subject, right now. @module */

import {
  type FeedLineParser,
  isUpsert,
  parseEventPayload,
  type RelationshipUpsertEvent,
  type SigEvent,
} from "@sig/core";
import {
  type FeedIndex,
  type IndexedRelationship,
  IndexError,
  type LinePlace,
} from "../index/feed_index.ts";
import type { OpenFeed } from "../store/feed_store.ts";

/** Which relationships are asked for: those that either member names. */
export interface CurrentQuestion {
  /** This relationship. */
  readonly relationship_id?: string | undefined;
  /** The active relationships of this subject. */
  readonly subject?: string | undefined;
  /** Those of the subject with the latest events, so many (default: all). */
  readonly most?: number | undefined;
  /** Also the upserts in the last so many bytes of the feed (default: 0). */
  readonly recentBytes?: number | undefined;
}

/** A relationship as its last event leaves it. */
export interface CurrentRelationship {
  /** The relationship. */
  readonly relationship_id: string;
  /** The party that its last upsert names. */
  readonly subject: string;
  /** The event that published it; null once it is revoked. */
  readonly upsert: RelationshipUpsertEvent | null;
  /** Sequence of its last event. */
  readonly last_sequence: number;
}

/** An answer, and the feed that it is true of. */
export interface CurrentRelationships {
  /** Sequence of the feed's last event. */
  readonly last_sequence: number;
  /** In the order of their last events. */
  readonly relationships: readonly CurrentRelationship[];
  /** The upserts of `recentBytes`; their signatures are not verified again. */
  readonly recent: readonly RelationshipUpsertEvent[];
}

/** More than any feed has events. */
const MANY = 2 ** 40;

/**
 * Asks the index and reads the lines that it points to: the cost depends on the
 * number of relationships found, not on the feed's length.
 *
 * @throws {IndexError} when a line does not say what the index says.
 */
export async function readCurrent(
  { relationship_id: id, subject, most = MANY, recentBytes = 0 }:
    CurrentQuestion,
  feed: OpenFeed,
  index: FeedIndex,
  parseLine: FeedLineParser,
): Promise<CurrentRelationships> {
  const found = new Map<string, IndexedRelationship>();
  const one = id === undefined ? undefined : index.relationship(id);
  const several = subject === undefined ? [] : index.activeOf(subject, most);
  for (const each of one === undefined ? several : [one, ...several]) {
    found.set(each.relationship_id, each);
  }
  const relationships: CurrentRelationship[] = [];
  for (const each of found.values()) {
    const { relationship_id, subject, last_sequence } = each;
    const event = await readLastEvent(each, feed, parseLine);
    const upsert = isUpsert(event) ? event : null;
    relationships.push({ relationship_id, subject, upsert, last_sequence });
  }
  relationships.sort((a, b) => a.last_sequence - b.last_sequence);
  const { bytes, sequence: last_sequence } = index.head!;
  const from = Math.max(0, bytes - recentBytes);
  const recent = from === bytes
    ? []
    : [...readRecent(await feed.read(from, bytes - from), parseLine)];
  return { last_sequence, relationships, recent };
}

const LF = 0x0a;

/** The upserts of the whole lines in the end of a feed. */
function* readRecent(
  bytes: Uint8Array,
  parseLine: FeedLineParser,
): Generator<RelationshipUpsertEvent> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LF, start);
    if (end < 0) return;
    try {
      const { payload } = parseLine(bytes.subarray(start, end));
      const event = parseEventPayload(payload);
      if (isUpsert(event)) yield event;
    } catch {
      // The first line may be the rest of one.
    }
    start = end + 1;
  }
}

/**
 * The event in a place of the feed, which was verified when the index learned
 * of it; undefined where no event is.
 */
export async function readEventAt(
  { bytes, offset }: LinePlace,
  feed: OpenFeed,
  parseLine: FeedLineParser,
): Promise<SigEvent | undefined> {
  if (offset < 0 || bytes < 1 || offset + bytes >= feed.size) return undefined;
  const line = await feed.read(offset, bytes);
  try {
    const { payload } = parseLine(line);
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
  parseLine: FeedLineParser,
): Promise<SigEvent> {
  const event = await readEventAt(found, feed, parseLine);
  const isRevoked = event?.event_type === "relationship.revoke";
  if (
    event?.relationship_id === found.relationship_id &&
    event.sequence === found.last_sequence &&
    isRevoked === found.revoked &&
    (isRevoked || event.subject === found.subject)
  ) return event;
  throw new IndexError("Cannot find a relationship in its place");
}
