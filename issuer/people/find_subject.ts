/** Resolves a text to a person or to one of the person's keys. @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { People } from "./people.ts";

/** A key in the feed, or in the people file only. */
export interface KnownKey {
  /** The DID of the key. */
  readonly subject: string;
  /** The roles of its effective relationships. */
  readonly roles: readonly string[];
  /** Whether it has an effective relationship. */
  readonly isEffective: boolean;
  /** Sequence of its first event; 0 if the feed has none. */
  readonly since: number;
}

/** A person that a text names. */
export interface FoundPerson {
  /** The organisation's own id; null if unknown. */
  readonly person: string | null;
  /** The display name; null if unknown. */
  readonly name: string | null;
  /** The keys: the oldest in the feed first, then those without an event. */
  readonly keys: readonly KnownKey[];
}

/** Maximum number of people or keys that a message lists. */
const MAX_NAMED = 20;

/** The keys of an issuer, to find the person that a text names. */
export class Directory {
  readonly #people: People;
  readonly #byPerson: ReadonlyMap<string, readonly KnownKey[]>;

  /** Takes the keys of the feed; those of the people file are added. */
  constructor(people: People, feed: Iterable<KnownKey>) {
    this.#people = people;
    const keys = new Map(
      Iterator.from(feed).map((key) => [key.subject, key]),
    );
    for (const subject of people.keys.keys()) {
      if (!keys.has(subject)) keys.set(subject, withoutEvent(subject));
    }
    this.#byPerson = Map.groupBy(
      [...keys.values()].sort((a, b) =>
        (a.since || Infinity) - (b.since || Infinity) || 0
      ),
      ({ subject }) => people.keyOf(subject),
    );
  }

  /** Returns the person of a key, also of an unknown one. */
  personOf(subject: string): FoundPerson {
    const keys = this.#byPerson.get(this.#people.keyOf(subject)) ??
      [withoutEvent(subject)];
    return { ...this.#people.named(subject), keys };
  }

  /**
   * Finds the person that a text names: by a key of the feed or of the people
   * file, else by `person`, else by `name`.
   *
   * @returns undefined if nobody has this id or name.
   * @throws {SigError} `ambiguous_relationship` if several people have the
   * name.
   */
  find(text: string): FoundPerson | undefined {
    const people = this.#people;
    const ofText = this.#byPerson.get(people.keyOf(text));
    if (ofText?.some(({ subject }) => subject === text)) {
      return this.personOf(text);
    }
    const byId = this.#byPerson.get(people.keyOfPerson(text));
    if (byId?.[0] !== undefined) return this.personOf(byId[0].subject);
    const named = new Map(
      Iterator.from(people.keys.values())
        .filter(({ name }) => name === text)
        .map(({ subject }) => [people.keyOf(subject), subject]),
    );
    const [found, ...more] = [...named.values()]
      .map((subject) => this.personOf(subject));
    if (more.length === 0) return found;
    const all = [found!, ...more];
    throw new SigError("ambiguous_relationship", {
      action: "choose a person",
      reason: `${all.length} people have the name ${quote(text)}: ${
        listed(all.map(describePerson))
      }`,
      context: {
        people: all.slice(0, MAX_NAMED).map(({ person, name, keys }) => ({
          person,
          name,
          subject: keys[0]?.subject ?? null,
          roles: rolesOf(keys),
        })),
        hint: "Give the person's id (column person) or a DID.",
      },
    });
  }
}

function withoutEvent(subject: string): KnownKey {
  return { subject, roles: [], isEffective: false, since: 0 };
}

/**
 * Returns the key that is meant where a command changes a single key: the only
 * one with an effective relationship. It is never the first key by default,
 * which may be a stolen laptop.
 *
 * @throws {SigError} `ambiguous_relationship`, which lists the keys.
 */
export function requireOneKey(found: FoundPerson, text: string): string {
  const effective = found.keys.filter(({ isEffective }) => isEffective);
  const [key, ...more] = effective;
  if (key !== undefined && more.length === 0) return key.subject;
  const count = effective.length === 0
    ? "no key with an effective relationship"
    : `${effective.length} keys with an effective relationship`;
  throw new SigError("ambiguous_relationship", {
    action: "choose a key",
    reason: `${quote(text)} has ${count}: ${
      listed(found.keys.map(describeKey))
    }`,
    context: {
      keys: found.keys.slice(0, MAX_NAMED).map((each) => ({
        subject: each.subject,
        roles: each.roles,
        effective: each.isEffective,
      })),
      hint: "Give the DID of the key that is meant.",
    },
  });
}

function describePerson({ keys, name, person }: FoundPerson): string {
  const roles = rolesOf(keys);
  const about = [
    person,
    name,
    roles.join(", ") || "no roles",
    keys[0]?.subject,
  ];
  return about.filter((each) => each).join(", ");
}

function describeKey({ isEffective, roles, subject }: KnownKey): string {
  const what = isEffective ? roles.join(", ") || "no roles" : "not effective";
  return `${subject} (${what})`;
}

function rolesOf(keys: readonly KnownKey[]): readonly string[] {
  return [...new Set(keys.flatMap(({ roles }) => roles))].sort();
}

/** Returns the first texts of a list, then `… and 27 more`. */
export function listFirst(
  texts: readonly string[],
  most: number,
  separator = ", ",
): string {
  const more = texts.length - most;
  const rest = more > 0 ? [`… and ${more} more`] : [];
  return [...texts.slice(0, most), ...rest].join(separator);
}

const listed = (texts: readonly string[]) => listFirst(texts, MAX_NAMED, "; ");

/** Number of names that a message shows. */
const MAX_SHOWN = 2;

/**
 * Returns a short list of people for messages, such as `Olga Berg, Hans Fischer,
 * … and 27 more`.
 */
export function namePeople(
  subjects: readonly string[],
  people: People,
): string {
  const names = subjects.map((subject) =>
    people.named(subject).name ?? people.named(subject).person ?? subject
  );
  return listFirst(names, MAX_SHOWN);
}
