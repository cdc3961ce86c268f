/** An index of a feed's events and relationships. @module */

import {
  compareInstants,
  isRevoke,
  parseTimestamp,
  type PastEvents,
  type SigEvent,
} from "@sig/core";
import {
  type FeedHead,
  type IndexedEvent,
  type IndexedRelationship,
  IndexError,
  IndexFile,
  type LinePlace,
  type PendingEvent,
} from "./index_file.ts";

/**
 * The index of a store: the methods of {@linkcode FeedIndex}, which a store may
 * implement in another way.
 */
export type EventIndex = Pick<FeedIndex, keyof FeedIndex>;

/**
 * Finds events and relationships without reading the feed. The index is a
 * cache: it may be behind the feed or empty, and is rebuilt if it does not
 * match the feed. It is not trusted: results are compared with the feed lines
 * that they point to. Use it only under the store's lock.
 *
 * New events are kept in memory until `flush` writes them to the file. They
 * stay in memory if there is no file, no SQLite, or if rebuilding the file does
 * not help; after a restart the whole feed is then verified once.
 *
 * Every method but `reset` and `discard` may throw {@linkcode IndexError}; the
 * caller then calls `discard` and starts again.
 *
 * @example In memory, for your own stores
 * ```ts
 * import { FeedIndex } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(new FeedIndex().head, undefined);
 * ```
 */
export class FeedIndex implements PastEvents {
  /** Undefined keeps everything in memory. */
  #file: IndexFile | undefined;
  #resets = 0;
  #head: FeedHead | undefined;
  /** Number of feed bytes that the file covers at least. */
  #base = 0;
  /** Events not yet in the file, by event_id, in the order of the feed. */
  readonly #pending = new Map<string, PendingEvent>();
  /** Relationships changed by pending events. */
  readonly #relationships = new Map<string, IndexedRelationship>();

  /**
   * Makes an index; the file is not opened yet.
   *
   * @param path path of the file (default: none).
   */
  constructor(path?: string) {
    this.#file = path === undefined ? undefined : new IndexFile(path);
  }

  /** The end of the feed that this process has verified. */
  get head(): FeedHead | undefined {
    return this.#head;
  }

  /** Number of events that are not in the file yet. */
  get pending(): number {
    return this.#file === undefined ? 0 : this.#pending.size;
  }

  /** Returns the head stored in the file, or undefined if the file is empty. */
  stored(): FeedHead | undefined {
    return this.#file === undefined ? this.#head : this.#file.head();
  }

  /** Returns whether file and pending events have no gap up to the head. */
  continues(stored: FeedHead): boolean {
    const head = this.#head;
    return head !== undefined && isOfSameFeed(stored, head) &&
      stored.bytes >= this.#base && stored.bytes <= head.bytes;
  }

  /** Sets the head; drops pending events unless it is the current head. */
  startFrom(head: FeedHead): void {
    if (head === this.#head) return;
    this.#drop();
    this.#head = head;
    this.#base = head.bytes;
  }

  /** Returns whether an event has this `event_id`. */
  hasEvent(eventId: string): boolean {
    return this.event(eventId) !== undefined;
  }

  /** Returns an event by its `event_id`. */
  event(eventId: string): IndexedEvent | undefined {
    return this.#pending.get(eventId) ?? this.#file?.event(eventId);
  }

  /** Returns a relationship by its `relationship_id`. */
  relationship(id: string): IndexedRelationship | undefined {
    return this.#relationships.get(id) ?? this.#file?.relationship(id);
  }

  /** Returns the active relationships of a subject, latest events first. */
  activeOf(subject: string, most: number): readonly IndexedRelationship[] {
    return this.#ofSubject(subject, "active", most);
  }

  /** Returns the relationship of a subject that was revoked last. */
  lastRevokedOf(subject: string): IndexedRelationship | undefined {
    return this.#ofSubject(subject, "revoked", 1)[0];
  }

  #ofSubject(
    subject: string,
    status: "active" | "revoked",
    most: number,
  ): readonly IndexedRelationship[] {
    const pending = [...this.#relationships.values()]
      .filter((each) =>
        each.subject === subject && !each.isVoid &&
        each.revoked === (status === "revoked")
      )
      .sort((a, b) => b.last_sequence - a.last_sequence);
    // Each pending relationship may replace one in the file.
    const limit = most + this.#relationships.size;
    const stored = this.#file?.ofSubject(subject, status, limit) ?? [];
    const unchanged = stored.filter(({ relationship_id: id }) =>
      !this.#relationships.has(id)
    );
    return [...pending, ...unchanged].slice(0, most);
  }

  /**
   * Adds the event that follows the head, and its line.
   *
   * @param isVoid Whether its key had ended.
   */
  add(event: SigEvent, line: Uint8Array, isVoid = false): void {
    const { event_id, relationship_id: id, sequence } = event;
    const head = this.#head!;
    const place = { offset: head.bytes, bytes: line.length };
    const relationship = after(event, this.relationship(id), place, isVoid);
    this.#pending.set(event_id, { sequence, ...place, relationship });
    if (relationship !== undefined) this.#relationships.set(id, relationship);
    this.#head = {
      ...head,
      bytes: head.bytes + line.length + 1,
      sequence,
      latest_issued_at: isVoid
        ? head.latest_issued_at
        : later(head.latest_issued_at, event.issued_at),
      last_line: line,
    };
  }

  /** Removes the events that were added after an earlier head. */
  rollBack(head: FeedHead): void {
    this.#relationships.clear();
    for (const [id, { relationship, sequence }] of this.#pending) {
      if (sequence > head.sequence) this.#pending.delete(id);
      else if (relationship !== undefined) {
        this.#relationships.set(relationship.relationship_id, relationship);
      }
    }
    this.#head = head;
  }

  /**
   * Writes the pending events that the file does not have yet. The feed must be
   * durable up to the head.
   *
   * @throws {IndexError} if the file was emptied concurrently: with a gap, an
   * event_id could be used twice. The pending events are then dropped.
   */
  flush(): void {
    const head = this.#head;
    const file = this.#file;
    if (file === undefined || head === undefined) return;
    try {
      const stored = file.head();
      const known = stored?.bytes ?? 0;
      const isSame = stored === undefined || isOfSameFeed(stored, head);
      if (!isSame || known < this.#base) {
        throw new IndexError("Cannot add to an index that has changed");
      }
      const missing = [...this.#pending].filter(([, { offset }]) =>
        offset >= known
      );
      if (stored === undefined || known < head.bytes) file.write(head, missing);
    } catch (error) {
      this.#drop();
      throw error;
    }
    this.#drop();
    this.startFrom(head);
  }

  /**
   * Empties the index, except for the last line of the given heads: a feed that
   * lacks such a line has lost events. An index with only these lines matches
   * no feed.
   *
   * @param stored the head to keep in the file.
   * @param seen the head to keep in this process.
   */
  reset(stored?: FeedHead, seen?: FeedHead): void {
    this.#drop();
    this.#removeFile();
    let own = seen;
    try {
      if (this.#file === undefined) own ??= stored;
      else if (stored !== undefined) this.#file.write(evidenceOf(stored), []);
    } catch (error) {
      if (!(error instanceof IndexError)) throw error;
      own ??= stored;
    }
    this.#head = own && evidenceOf(own);
  }

  /** Empties an index that can't be used, but keeps the last line it knows. */
  discard(): void {
    let known = this.#head;
    try {
      known ??= this.stored();
    } catch (error) {
      if (!(error instanceof IndexError)) throw error;
    }
    this.reset(known);
  }

  /** Closes the file. */
  close(): void {
    this.#file?.close();
  }

  #drop(): void {
    this.#pending.clear();
    this.#relationships.clear();
    this.#head = undefined;
  }

  #removeFile(): void {
    const file = this.#file;
    if (file === undefined) return;
    file.close();
    try {
      // A third failure in one process is not accidental: keep the index in
      // memory.
      if (++this.#resets > 2) this.#file = undefined;
      else file.remove();
    } catch {
      this.#file = undefined;
    }
  }
}

function isOfSameFeed(a: FeedHead, b: FeedHead): boolean {
  return a.issuer === b.issuer && a.identity === b.identity;
}

function evidenceOf(head: FeedHead): FeedHead {
  return { ...head, identity: "" };
}

/** Returns the relationship after an event, or undefined if none changes. */
function after(
  event: SigEvent,
  before: IndexedRelationship | undefined,
  place: LinePlace,
  isVoid: boolean,
): IndexedRelationship | undefined {
  const last = { last_sequence: event.sequence, ...place };
  if (isRevoke(event)) {
    return before === undefined || before.isVoid || isVoid
      ? undefined
      : { ...before, revoked: true, ...last };
  }
  if (before !== undefined && isVoid) return undefined;
  const { relationship_id, subject } = event;
  const home = before?.home ?? subject;
  return { relationship_id, subject, home, revoked: isVoid, isVoid, ...last };
}

function later(a: string | null, b: string): string {
  const first = parseTimestamp(a);
  const second = parseTimestamp(b);
  if (a === null || !first || !second) return b;
  return compareInstants(first, second) >= 0 ? a : b;
}
