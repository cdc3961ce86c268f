/** An index that dies with the process. @module */

import type {
  FeedIndex,
  FeedMark,
  IndexedEvent,
  IndexedRelationship,
  IndexEntry,
} from "./feed_index.ts";

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
  #mark: FeedMark | undefined;
  #epoch = 0;

  get epoch(): number {
    return this.#epoch;
  }

  mark(): FeedMark | undefined {
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

  add(entries: readonly IndexEntry[], mark: FeedMark): void {
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
