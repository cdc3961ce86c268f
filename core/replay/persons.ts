/** The keys of each person in a feed (docs/protocol.md §4.1). @module */

import type { RelationshipUpsertEvent } from "../event/types.ts";

/** The maximum number of links between a key and the root of its person. */
const MAX_LINKS = 8;

/** The link in the first upsert about a subject. */
interface Key {
  readonly root: string;
  /** The number of links to the root. */
  readonly links: number;
  /** Sequence of the event with the link. */
  readonly sequence: number;
}

/**
 * The persons of a feed. The link in a subject's first upsert is permanent: an
 * application that identifies a person by the root subject would otherwise give
 * an account to another person.
 */
export class Persons {
  readonly #keys = new Map<string, Key>();

  /** Returns the persons after the first `events` events. */
  until(events: number): Persons {
    const persons = new Persons();
    for (const [subject, key] of this.#keys) {
      if (key.sequence <= events) persons.#keys.set(subject, key);
    }
    return persons;
  }

  /** Adds the first upsert about a subject. */
  add({ metadata, sequence, subject }: RelationshipUpsertEvent): void {
    const named = metadata && Object.hasOwn(metadata, "same_person_as")
      ? metadata.same_person_as
      : undefined;
    if (typeof named !== "string" || named === "") return;
    if (!this.canLink(subject, named)) return;
    const of = this.#keys.get(named) ?? { root: named, links: 0, sequence };
    this.#keys.set(named, of);
    const { root, links } = of;
    this.#keys.set(subject, { root, links: links + 1, sequence });
  }

  /**
   * Returns whether the first upsert about a subject can link it to another
   * subject.
   */
  canLink(subject: string, named: string): boolean {
    // If another key already links to this one, a link here would move that key
    // too, or close a cycle.
    return named !== subject && !this.#keys.has(subject) &&
      (this.#keys.get(named)?.links ?? 0) < MAX_LINKS;
  }

  /** Returns the root after the first `events` events (default: all events). */
  rootOf(subject: string, events = Infinity): string {
    const key = this.#keys.get(subject);
    return key !== undefined && key.sequence <= events ? key.root : subject;
  }
}
