/** The index and what is about to be added to it. @module */

import {
  compareInstants,
  isRevoke,
  parseTimestamp,
  type SigEvent,
} from "@sig/core";
import {
  type FeedHead,
  type FeedIndex,
  type IndexedEvent,
  type IndexedRelationship,
  type IndexEntry,
  IndexError,
} from "./feed_index.ts";

/** What can be asked of an index. */
export type IndexLookup = Pick<
  FeedIndex,
  "event" | "relationship" | "activeOf" | "epoch"
>;

/**
 * Collects events behind a mark and answers as if they were in the index.
 * Thrown away, it leaves the index as it was.
 */
export class IndexWriter implements IndexLookup {
  readonly #below: IndexLookup;
  readonly #events = new Map<string, IndexEntry>();
  readonly #relationships = new Map<string, IndexedRelationship>();
  /** Bytes of the feed that are below at least. */
  #base: number;
  readonly #epoch: number;
  #mark: FeedHead;

  /** Starts behind the mark of what is below. */
  constructor(below: IndexLookup, mark: FeedHead) {
    this.#below = below;
    this.#base = mark.bytes;
    this.#epoch = below.epoch;
    this.#mark = mark;
  }

  /** That of the index when this one was made. */
  get epoch(): number {
    return this.#epoch;
  }

  /** The mark behind the last event added. */
  get mark(): FeedHead {
    return this.#mark;
  }

  /** Events added and not yet flushed. */
  get pending(): number {
    return this.#events.size;
  }

  /**
   * Whether an index with this mark and what was added are without a gap, and
   * the index does not know more.
   */
  continues(mark: FeedHead): boolean {
    return mark.issuer === this.#mark.issuer &&
      mark.identity === this.#mark.identity &&
      mark.bytes >= this.#base && mark.bytes <= this.#mark.bytes;
  }

  /** An event, added or below. */
  event(eventId: string): IndexedEvent | undefined {
    return this.#events.get(eventId) ?? this.#below.event(eventId);
  }

  /** A relationship, added or below. */
  relationship(relationshipId: string): IndexedRelationship | undefined {
    return this.#relationships.get(relationshipId) ??
      this.#below.relationship(relationshipId);
  }

  /** The active relationships of a subject, added or below. */
  activeOf(subject: string, most: number): readonly IndexedRelationship[] {
    // Each one added may stand in the place of one below.
    const below = this.#below.activeOf(subject, most + this.#relationships.size)
      .filter(({ relationship_id: id }) => !this.#relationships.has(id));
    const added = [...this.#relationships.values()].reverse()
      .filter((each) => each.subject === subject && each.status === "active")
      .sort((a, b) => b.last_sequence - a.last_sequence);
    return [...added, ...below].slice(0, most);
  }

  /** Adds the next event and its line. */
  add(event: SigEvent, line: Uint8Array): void {
    const relationship = this.#after(event, line.length);
    this.#note({
      event_id: event.event_id,
      sequence: event.sequence,
      offset: this.#mark.bytes,
      bytes: line.length,
      ...(relationship ? { relationship } : {}),
    });
    this.#mark = {
      ...this.#mark,
      bytes: this.#mark.bytes + line.length + 1,
      sequence: event.sequence,
      latest_issued_at: later(this.#mark.latest_issued_at, event.issued_at),
      last_line: line,
    };
  }

  /** Takes over what a writer above this one has added. */
  absorb(above: IndexWriter): void {
    for (const entry of above.#events.values()) this.#note(entry);
    this.#mark = above.#mark;
  }

  /**
   * Hands over what was added, except what the index knows by now. The feed
   * must be durable up to there.
   *
   * @throws {IndexError} when the index was emptied meanwhile: with a gap in it
   * an event_id could be given twice.
   */
  flush(index: FeedIndex): void {
    const mark = index.mark();
    const known = mark?.bytes ?? 0;
    const isSame = mark === undefined ||
      (mark.issuer === this.#mark.issuer &&
        mark.identity === this.#mark.identity);
    if (!isSame || known < this.#base) {
      throw new IndexError("Cannot add to an index that has changed");
    }
    if (mark === undefined || this.#mark.bytes > known) {
      const entries = [...this.#events.values()];
      index.add(entries.filter(({ offset }) => offset >= known), this.#mark);
    }
    this.#base = this.#mark.bytes;
    this.#events.clear();
    this.#relationships.clear();
  }

  #note(entry: IndexEntry): void {
    this.#events.set(entry.event_id, entry);
    const { relationship } = entry;
    if (relationship === undefined) return;
    this.#relationships.set(relationship.relationship_id, relationship);
  }

  /** The relationship after an event; undefined where there is none. */
  #after(event: SigEvent, bytes: number): IndexedRelationship | undefined {
    const { relationship_id, sequence: last_sequence } = event;
    const place = { last_sequence, offset: this.#mark.bytes, bytes };
    const before = this.relationship(relationship_id);
    if (isRevoke(event)) {
      return before && { ...before, status: "revoked", ...place };
    }
    const { subject } = event;
    const home = before?.home ?? subject;
    return { relationship_id, subject, home, status: "active", ...place };
  }
}

function later(a: string | null, b: string): string {
  const first = parseTimestamp(a);
  const second = parseTimestamp(b);
  if (a === null || !first || !second) return b;
  return compareInstants(first, second) >= 0 ? a : b;
}
