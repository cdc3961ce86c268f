/** Which subjects are keys of one person (docs/protocol.md §4.1). @module */

import type { RelationshipUpsertEvent } from "../event/types.ts";

/** The maximum number of links between a key and the root of its person. */
const MAX_LINKS = 8;

/** The link in the first upsert about a subject. */
interface Key {
  readonly root: string;
  /** How many links lead to the root. */
  readonly links: number;
  /** The sequence of the event with the link. */
  readonly sequence: number;
}

/**
 * The persons of a feed. What a subject's first upsert says about its person
 * never changes: an application that knows a person by the root's subject would
 * otherwise give an account to somebody else.
 */
export class Persons {
  readonly #keys = new Map<string, Key>();

  /** The persons by the first `events` events alone. */
  until(events: number): Persons {
    const persons = new Persons();
    for (const [subject, key] of this.#keys) {
      if (key.sequence <= events) persons.#keys.set(subject, key);
    }
    return persons;
  }

  /** Takes the first upsert about a subject. */
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

  /** Whether the first upsert about a subject can link it to another one. */
  canLink(subject: string, named: string): boolean {
    // Another key named it before: a link of its own would move that key too, or
    // close a cycle.
    return named !== subject && !this.#keys.has(subject) &&
      (this.#keys.get(named)?.links ?? 0) < MAX_LINKS;
  }

  /** The root after the first `events` events (default: all of them). */
  rootOf(subject: string, events = Infinity): string {
    const key = this.#keys.get(subject);
    return key !== undefined && key.sequence <= events ? key.root : subject;
  }
}
