/** The index beside a feed: its contract, in memory, and as evidence. @module */

/** What the index knows of one relationship. */
export interface IndexedRelationship {
  /** Unique in the feed. */
  readonly relationship_id: string;
  /** The party that its last upsert names. */
  readonly subject: string;
  /** The party that its first upsert names: where the state tree has it. */
  readonly home: string;
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
export interface FeedHead {
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
  mark(): FeedHead | undefined;
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
  add(entries: readonly IndexEntry[], mark: FeedHead): void;
  /** Forgets everything; must succeed whatever state the index is in. */
  reset(): void;
}

/** An index that can't be used. The feed is not affected. */
export class IndexError extends Error {
  /** Always `IndexError`. */
  override readonly name = "IndexError";
}

/**
 * Makes an empty index in memory, for stores of one's own: after a restart the
 * whole feed is verified once.
 *
 * @example
 * ```ts
 * import { createMemoryIndex } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(createMemoryIndex().mark(), undefined);
 * ```
 */
export function createMemoryIndex(): FeedIndex {
  return new MemoryIndex();
}

class MemoryIndex implements FeedIndex {
  readonly #events = new Map<string, IndexedEvent>();
  readonly #relationships = new Map<string, IndexedRelationship>();
  readonly #idsOf = new Map<string, Set<string>>();
  #mark: FeedHead | undefined;
  #epoch = 0;

  get epoch(): number {
    return this.#epoch;
  }

  mark(): FeedHead | undefined {
    return this.#mark;
  }

  event(eventId: string): IndexedEvent | undefined {
    return this.#events.get(eventId);
  }

  relationship(relationshipId: string): IndexedRelationship | undefined {
    return this.#relationships.get(relationshipId);
  }

  activeOf(subject: string, most: number): readonly IndexedRelationship[] {
    return [...this.#idsOf.get(subject) ?? []]
      .map((id) => this.#relationships.get(id))
      .filter((each) => each !== undefined)
      .filter((each) => each.subject === subject && each.status === "active")
      .sort((a, b) => b.last_sequence - a.last_sequence)
      .slice(0, most);
  }

  add(entries: readonly IndexEntry[], mark: FeedHead): void {
    for (const { relationship, ...event } of entries) {
      this.#events.set(event.event_id, event);
      if (relationship === undefined) continue;
      const { relationship_id: id, subject } = relationship;
      this.#relationships.set(id, relationship);
      const ids = this.#idsOf.get(subject) ?? new Set();
      this.#idsOf.set(subject, ids.add(id));
    }
    this.#mark = mark;
  }

  reset(): void {
    this.#epoch++;
    this.#events.clear();
    this.#relationships.clear();
    this.#idsOf.clear();
    this.#mark = undefined;
  }
}

/**
 * Empties an index that can't be used, but for the mark: that it has known more
 * than the feed holds must not be forgotten. It fits no feed any more.
 */
export function keepEvidence(index: FeedIndex): void {
  let mark: FeedHead | undefined;
  try {
    mark = index.mark();
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
  }
  index.reset();
  if (mark !== undefined) putEvidence(index, mark);
}

/** Keeps what an index has known, in an index that was reset. */
export function putEvidence(index: FeedIndex, mark: FeedHead): void {
  try {
    index.add([], { ...mark, identity: "" });
  } catch (error) {
    // An index that takes nothing has nothing to say.
    if (!(error instanceof IndexError)) throw error;
  }
}
