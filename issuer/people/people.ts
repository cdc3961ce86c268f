/** Decides which keys belong to one person. @module */

import type { PersonKey } from "./people_file.ts";

/** The operator's data about a person. */
export interface PersonName {
  /** The organisation's own id; null if unknown. */
  readonly person: string | null;
  /** The display name; null if unknown. */
  readonly name: string | null;
  /** The user name for logins; null if unknown. */
  readonly username: string | null;
}

/** A contradiction between the people file and the feed. */
export interface PersonConflict {
  /** The ids of the person. */
  readonly persons: readonly string[];
  /** The roots in the feed of the person's keys. */
  readonly roots: readonly string[];
}

/** Returns the root of a key in the feed (docs/protocol.md §4.1). */
export type RootOf = (subject: string) => string;

/**
 * The people of an issuer. A person consists of the keys with one `person` in
 * the people file and of the keys that `same_person_as` connects in the feed.
 * Every command and guard asks this class who a key belongs to.
 *
 * @example
 * ```ts
 * import { People } from "@sig/issuer/people";
 * import { assertEquals } from "@std/assert";
 *
 * const [laptop, phone] = ["did:key:laptop", "did:key:phone"];
 * const people = new People([
 *   { subject: laptop, person: "17", name: "Ada" },
 *   { subject: phone, person: "17" },
 * ]);
 * assertEquals(people.keyOf(phone), people.keyOf(laptop));
 * assertEquals(people.named(phone).name, "Ada");
 * ```
 */
export class People {
  /** The rows of the people file, by key. */
  readonly keys: ReadonlyMap<string, PersonKey>;
  readonly #rootOf: RootOf;
  /** The parents of a union of roots and persons. */
  readonly #parents = new Map<string, string>();
  readonly #names = new Map<string, PersonName>();
  /** The keys of the people file, by person. */
  readonly #listed: ReadonlyMap<string, readonly string[]>;

  /**
   * Joins the rows of a people file with the links of a feed.
   *
   * @param rootOf (default: no links)
   */
  constructor(keys: Iterable<PersonKey>, rootOf: RootOf = (each) => each) {
    this.#rootOf = rootOf;
    this.keys = new Map(Iterator.from(keys).map((key) => [key.subject, key]));
    for (const { person, subject } of this.keys.values()) {
      if (person !== undefined) this.#join(rootOf(subject), idNode(person));
    }
    this.#listed = Map.groupBy(this.keys.keys(), (key) => this.keyOf(key));
    for (const { name, person, subject, username } of this.keys.values()) {
      const node = this.keyOf(subject);
      const known = this.#names.get(node);
      this.#names.set(node, {
        person: known?.person ?? person ?? null,
        name: known?.name ?? name ?? null,
        username: known?.username ?? username ?? null,
      });
    }
  }

  /** Returns these people with the links of a feed. */
  linked(rootOf?: RootOf): People {
    return new People(this.keys.values(), rootOf);
  }

  /** Returns a text that is equal for all keys of a person. */
  keyOf(subject: string): string {
    return this.#find(this.#rootOf(subject));
  }

  /** Returns the text of {@linkcode keyOf} for a `person`. */
  keyOfPerson(person: string): string {
    return this.#find(idNode(person));
  }

  /** Returns the root of a key in the feed, which decides about `sub`. */
  rootOf(subject: string): string {
    return this.#rootOf(subject);
  }

  /** Returns id and names of the person of a key. */
  named(subject: string): PersonName {
    const own = this.keys.get(subject);
    const of = this.#names.get(this.keyOf(subject));
    return {
      person: own?.person ?? of?.person ?? null,
      name: own?.name ?? of?.name ?? null,
      username: own?.username ?? of?.username ?? null,
    };
  }

  /** Returns the keys that the people file has for a person. */
  listed(key: string): readonly string[] {
    return this.#listed.get(key) ?? [];
  }

  /**
   * Returns people whose keys have several roots in the feed, or whose root has
   * several `person` values. The feed decides about `sub`; guards count such
   * keys as one person.
   *
   * @param isInFeed Whether an event is about a subject: other keys have no
   * root yet.
   */
  conflicts(
    isInFeed: (subject: string) => boolean,
  ): readonly PersonConflict[] {
    return [...this.#listed.values()].flatMap((subjects) => {
      const persons = new Set(
        subjects.flatMap((each) => this.keys.get(each)?.person ?? []),
      );
      const roots = new Set(
        subjects.filter(isInFeed).map((each) => this.#rootOf(each)),
      );
      return persons.size > 1 || roots.size > 1
        ? [{ persons: [...persons], roots: [...roots] }]
        : [];
    });
  }

  #join(a: string, b: string): void {
    const [first, second] = [this.#find(a), this.#find(b)];
    if (first !== second) this.#parents.set(second, first);
  }

  #find(node: string): string {
    let root = node;
    let up: string | undefined;
    while ((up = this.#parents.get(root)) !== undefined) root = up;
    // Shortens the path, so that many keys of one person stay fast.
    if (root !== node) this.#parents.set(node, root);
    return root;
  }
}

/** A subject contains no line feed. */
function idNode(person: string): string {
  return `\n${person}`;
}
