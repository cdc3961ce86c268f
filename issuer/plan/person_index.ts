/**
 * What people have and had in a feed: their keys, active relationships and
 * endings; who comes back, and when a relationship may begin.
 *
 * @module
 */

import {
  compareInstants,
  type Instant,
  instantOf,
  parseTimestamp,
  type RelationshipUpsertEvent,
} from "@sig/core";
import { validityAt } from "@sig/core/internal";
import type { People } from "../people/people.ts";
import type { PlannedMembers } from "./members.ts";
import type {
  EndedRelationship,
  Ending,
  PublishedHistory,
  PublishedRelationship,
  PublishedState,
} from "./published.ts";

/** The start of a relationship, and why it differs from the wanted one. */
export interface Start {
  /** The start: RFC 3339 UTC, or null. */
  readonly valid_from: string | null;
  /** The wanted start that the time of the append replaces. */
  readonly listed_from?: string | null;
  /** The time without access that the start fills. */
  readonly fills_gap?: Gap;
}

/** A time without access. */
export interface Gap {
  /** The end of the last relationship. */
  readonly from: string;
  /** The new beginning. */
  readonly until: string;
}

/**
 * An index of a feed by person. It judges persons, over all of their keys,
 * types and identifiers, so that no other order of lists, identifier or type
 * goes round it.
 */
export class PersonIndex {
  /** The state that is indexed. */
  readonly state: PublishedState;
  /** The people of the state. */
  readonly people: People;
  /** The active relationships, in the order of the feed. */
  readonly active: readonly PublishedRelationship[];
  readonly #now: Date | undefined;
  readonly #instant: Instant | undefined;
  readonly #active: ReadonlyMap<string, readonly PublishedRelationship[]>;
  readonly #endings: ReadonlyMap<string, readonly Ending[]>;
  readonly #keys: ReadonlyMap<string, readonly string[]>;
  readonly #firsts: PublishedHistory["firsts"];

  /**
   * Reads the relationships and endings of a feed.
   *
   * @param now The time of the append, at which relationships are effective
   * (default: the validity does not count, and starts are kept).
   */
  constructor(state: PublishedState, now?: Date) {
    const { endings, firsts } = state.history;
    this.state = state;
    this.people = state.people;
    this.active = [...state.relationships.values()]
      .filter(({ status }) => status === "active");
    this.#now = now;
    this.#instant = now && instantOf(now);
    this.#firsts = firsts;
    this.#active = this.#byPerson(this.active, ({ upsert }) => upsert.subject);
    this.#endings = this.#byPerson(endings, ({ subject }) => subject);
    this.#keys = this.#byPerson(firsts.keys(), (subject) => subject);
  }

  #byPerson<T>(all: Iterable<T>, subjectOf: (each: T) => string) {
    return Map.groupBy(all, (each) => this.personOf(subjectOf(each)));
  }

  /** Returns a text that is equal for all keys of a person. */
  personOf(subject: string): string {
    return this.people.keyOf(subject);
  }

  /**
   * Returns the active relationships of a subject's person, of that type
   * (default: all types), in the order of the feed.
   */
  activeOf(subject: string, type?: string): readonly PublishedRelationship[] {
    const all = this.#active.get(this.personOf(subject)) ?? [];
    return type === undefined
      ? all
      : all.filter(({ upsert }) => upsert.relationship_type === type);
  }

  /** Returns whether an active relationship is valid now. */
  isEffective(upsert: RelationshipUpsertEvent): boolean {
    return this.#instant === undefined ||
      validityAt(upsert, this.#instant) === "active";
  }

  /** Returns whether an event is about a subject. */
  isKnown(subject: string): boolean {
    return this.#firsts.has(subject);
  }

  /** Returns the keys of a person in the feed, the oldest first. */
  keysOf(person: string): readonly string[] {
    return this.#keys.get(person) ?? [];
  }

  /** Returns whether the person of a key has an effective relationship. */
  hasAccess(subject: string): boolean {
    return this.activeOf(subject).some(({ upsert }) =>
      this.isEffective(upsert)
    );
  }

  /**
   * Returns the revocation that an upsert would undo: it needs `--readmit`.
   * That is one for
   *
   * - a person without an effective relationship, whose last ending has another
   *   reason than `superseded`,
   * - a key without an active relationship that was revoked, or was replaced by
   *   another key of the person,
   * - a relationship, or a type that the person has no more, whose last ending
   *   has another reason than `superseded`.
   *
   * @param id Identifier; null or absent for a new relationship.
   */
  readmission(
    subject: string,
    type: string,
    id?: string | null,
  ): EndedRelationship | undefined {
    const last = (isMeant: (ending: Ending) => boolean) => {
      const found = this.#endingsOf(subject).findLast(isMeant);
      return found?.reason_code === "superseded" ? undefined : found;
    };
    const isRevoked =
      this.state.relationships.get(id ?? "")?.status === "revoked";
    const found = (this.hasAccess(subject) ? undefined : last(() => true)) ??
      this.#endedKey(subject) ??
      (isRevoked ? last((each) => each.relationship_id === id) : undefined) ??
      (this.activeOf(subject, type).length > 0
        ? undefined
        : last((each) => each.type === type));
    if (found === undefined) return undefined;
    const { subject: _, type: __, ...ended } = found;
    return ended;
  }

  #endingsOf(subject: string): readonly Ending[] {
    return this.#endings.get(this.personOf(subject)) ?? [];
  }

  #endedKey(key: string): Ending | undefined {
    if (this.activeOf(key).some(({ upsert }) => upsert.subject === key)) {
      return undefined;
    }
    const ended = this.#endingsOf(key).findLast(({ subject }) =>
      subject === key
    );
    // Another key replaced it: it may be a lost laptop.
    return ended?.reason_code === "superseded" &&
        this.keysOf(this.personOf(key)).length < 2
      ? undefined
      : ended;
  }

  /** Returns whether a key was ended, and has no active relationship. */
  isEndedKey(subject: string): boolean {
    return this.#endedKey(subject) !== undefined;
  }

  /**
   * Returns the start of a relationship. One that begins again begins when it is
   * appended, if the wanted start is before the last end: otherwise the gap
   * would disappear from reports about the past. So does a further key of a
   * known person. Once appended, the wanted start counts as equal.
   *
   * @param published The relationship, if it is in the feed.
   * @param retroactive Keep a start before the last end (default: false).
   */
  startOf(
    subject: string,
    { metadata, relationship_type: type, valid_from: wanted }: Pick<
      PlannedMembers,
      "metadata" | "relationship_type" | "valid_from"
    >,
    published: PublishedRelationship | undefined,
    retroactive = false,
  ): Start {
    const kept = { valid_from: wanted };
    const isActive = published?.status === "active";
    const stored = isActive ? published.upsert.valid_from : undefined;
    if (stored !== undefined && !isBefore(wanted, stored)) return kept;
    const isLinked = metadata?.same_person_as !== undefined;
    const further = this.#furtherSince(subject, isLinked) ?? null;
    const isFurther = isBefore(wanted, further);
    const begun = isActive ? published.active_since : Infinity;
    const end = this.#endingsOf(subject).findLast((each) =>
      each.sequence < begun &&
      (each.type === type ||
        each.relationship_id === published?.upsert.relationship_id)
    )?.effective_at;
    if (!isFurther && !isBefore(wanted, end ?? null)) return kept;
    const begins = stored ?? (this.#now && secondOf(this.#now));
    if (begins === undefined) return kept;
    if (!isFurther && retroactive && end !== undefined) {
      return { ...kept, fills_gap: { from: end, until: begins } };
    }
    return stored === undefined
      ? { valid_from: begins, listed_from: wanted }
      : { valid_from: stored };
  }

  /**
   * Returns since when a key is a further key of its person; undefined for the
   * first key.
   */
  #furtherSince(subject: string, isLinked: boolean): string | undefined {
    const first = this.#firsts.get(subject);
    if (first === undefined) {
      return isLinked ? this.#now && secondOf(this.#now) : undefined;
    }
    const isFurther = this.keysOf(this.personOf(subject))
      .some((key) => this.#firsts.get(key)!.sequence < first.sequence);
    return isFurther ? first.issued_at : undefined;
  }
}

/** Returns an instant without fractions of a second. */
export function secondOf(now: Date): string {
  return now.toISOString().replace(/\.\d+Z$/, "Z");
}

/** Returns whether a start is before another one; null is before all. */
export function isBefore(a: string | null, b: string | null): boolean {
  if (b === null) return false;
  const [first, second] = [parseTimestamp(a), parseTimestamp(b)];
  if (a === null) return true;
  return first !== undefined && second !== undefined &&
    compareInstants(first, second) < 0;
}
