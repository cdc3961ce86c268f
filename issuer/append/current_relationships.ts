/** What a feed says of one relationship, or one subject, right now. @module */

import { isUpsert, type Limits, type RelationshipUpsertEvent } from "@sig/core";
import type { IndexedRelationship } from "../index/feed_index.ts";
import type { IndexWriter } from "../index/index_writer.ts";
import type { OpenFeed } from "../store/feed_store.ts";
import { readLastEvent } from "./stored_event.ts";

/** Which relationships are asked for: those that either member names. */
export interface CurrentQuestion {
  /** This relationship. */
  readonly relationship_id?: string | undefined;
  /** The active relationships of this subject. */
  readonly subject?: string | undefined;
  /** Those of the subject with the latest events, so many; all unless told. */
  readonly most?: number | undefined;
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
  { relationship_id: id, subject, most = MANY }: CurrentQuestion,
  feed: OpenFeed,
  known: IndexWriter,
  limits: Limits,
): Promise<CurrentRelationships> {
  const found = new Map<string, IndexedRelationship>();
  const one = id === undefined ? undefined : known.relationship(id);
  const several = subject === undefined ? [] : known.activeOf(subject, most);
  for (const each of one === undefined ? several : [one, ...several]) {
    found.set(each.relationship_id, each);
  }
  const relationships: CurrentRelationship[] = [];
  for (const each of found.values()) {
    const { relationship_id, subject, last_sequence } = each;
    const event = await readLastEvent(each, feed, limits);
    const upsert = isUpsert(event) ? event : null;
    relationships.push({ relationship_id, subject, upsert, last_sequence });
  }
  relationships.sort((a, b) => a.last_sequence - b.last_sequence);
  return { last_sequence: known.mark.sequence, relationships };
}
