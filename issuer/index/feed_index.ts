/** The contract of the index beside a feed. @module */

/** What the index knows of one relationship. */
export interface IndexedRelationship {
  /** Unique in the feed. */
  readonly relationship_id: string;
  /** The party that its last upsert names. */
  readonly subject: string;
  /** `active` or `revoked`, after its last event. */
  readonly status: "active" | "revoked";
  /** Sequence of its last event. */
  readonly last_sequence: number;
  /** Bytes of the feed before that event's line. */
  readonly offset: number;
  /** Bytes of that line, without the LF. */
  readonly bytes: number;
}

/** Where an event stands in the feed. */
export interface IndexedEvent {
  /** Unique in the feed: used once for all time. */
  readonly event_id: string;
  /** Its sequence. */
  readonly sequence: number;
  /** Bytes of the feed before its line. */
  readonly offset: number;
  /** Bytes of its line, without the LF. */
  readonly bytes: number;
}

/** An event, and its relationship after it. */
export interface IndexEntry extends IndexedEvent {
  /** Absent when the event changes nothing: a revoke without an upsert. */
  readonly relationship?: IndexedRelationship;
}

/**
 * How far the feed has been verified. The last line is kept byte for byte: an
 * index that belongs to another or an older feed is recognised by it.
 */
export interface FeedMark {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Which file it is: {@linkcode OpenFeed.identity}. */
  readonly identity: string;
  /** Bytes of the feed up to here, all of them verified and durable. */
  readonly bytes: number;
  /** Sequence of the last event, 0 before the first. */
  readonly sequence: number;
  /** The latest `issued_at` so far, null before the first event. */
  readonly latest_issued_at: string | null;
  /** The last line without its LF; empty before the first event. */
  readonly last_line: Uint8Array;
}

/**
 * Finds events and relationships without reading the feed. It is a cache: it
 * may be behind the feed or empty, and is made again from the feed when it does
 * not fit. It is not believed either: what it says is held against the lines
 * that it points to. Used under the store's lock only.
 *
 * Every method may throw {@linkcode IndexError}; the caller then calls `reset`
 * and starts over.
 */
export interface FeedIndex {
  /**
   * Changes when what was added is forgotten, by whomever. An index that is
   * shared by processes may instead keep answering from what it was.
   */
  readonly epoch: number;
  /** How far the index goes; undefined when it is empty. */
  mark(): FeedMark | undefined;
  /** An event by its `event_id`. */
  event(eventId: string): IndexedEvent | undefined;
  /** A relationship by its `relationship_id`. */
  relationship(relationshipId: string): IndexedRelationship | undefined;
  /**
   * The active relationships whose last upsert names this subject, those with
   * the latest events first, at most so many.
   */
  activeOf(subject: string, most: number): readonly IndexedRelationship[];
  /** Adds events and moves the mark, all or nothing. */
  add(entries: readonly IndexEntry[], mark: FeedMark): void;
  /** Forgets everything; must succeed whatever state the index is in. */
  reset(): void;
}

/** An index that can't be used. The feed is not affected. */
export class IndexError extends Error {
  /** Always `IndexError`. */
  override readonly name = "IndexError";
}
