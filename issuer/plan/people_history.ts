/**
 * What a person had before: who comes back, and when a relationship may begin.
 *
 * @module
 */

import { compareInstants, instantOf, parseTimestamp } from "@sig/core";
import { validityAt } from "@sig/core/internal";
import {
  type EndedRelationship,
  type Ending,
  historyOf,
  keyOf,
  personIn,
  type PublishedRelationship,
  type PublishedState,
} from "./published.ts";

/** Where an upsert would make a relationship active. */
export interface Admission {
  /** The key. */
  readonly subject: string;
  /** The type. */
  readonly type: string;
  /** Identifier; null or absent for a new relationship. */
  readonly relationship_id?: string | null | undefined;
}

/** The start of a relationship, and why it differs from the wanted one. */
export interface Start {
  /** The start: RFC 3339 UTC, or null. */
  readonly valid_from: string | null;
  /** The wanted start that the time of the append replaces. */
  readonly replaces?: string | null;
  /** The time without access that the start fills. */
  readonly gap?: Gap;
}

/** A time without access. */
export interface Gap {
  /** The end of the last relationship. */
  readonly from: string;
  /** The new beginning. */
  readonly until: string;
}

/** Options of {@linkcode PeopleHistory.startOf}. */
export interface StartOptions {
  /** The time of the append (default: unknown, and starts are kept). */
  readonly now?: Date | undefined;
  /** Keep a start before the last end (default: false). */
  readonly retroactive?: boolean | undefined;
  /** Whether the key is new and linked to another one (default: unknown). */
  readonly isLinked?: boolean | undefined;
}

/**
 * The earlier relationships of people. It judges persons, over all of their
 * keys, types and identifiers, so that no other order of lists, identifier or
 * type goes round it.
 */
export class PeopleHistory {
  readonly #state: PublishedState;
  readonly #personOf: (subject: string) => string;
  readonly #endings: ReadonlyMap<string, readonly Ending[]>;
  readonly #keys: ReadonlyMap<string, readonly string[]>;
  readonly #effective = new Set<string>();
  readonly #activeKeys = new Set<string>();
  readonly #activeTypes = new Set<string>();
  readonly #firsts: ReadonlyMap<
    string,
    { readonly sequence: number; readonly issued_at: string }
  >;

  /**
   * Reads the relationships and endings of a feed.
   *
   * @param now The time at which relationships are effective (default: the
   * validity does not count).
   */
  constructor(state: PublishedState, now: Date | undefined) {
    const personOf = (subject: string) => personIn(state, subject);
    this.#state = state;
    this.#personOf = personOf;
    const { endings, firsts } = historyOf(state);
    this.#firsts = firsts;
    this.#endings = Map.groupBy(endings, (each) => personOf(each.subject));
    this.#keys = Map.groupBy(firsts.keys(), personOf);
    const instant = now && instantOf(now);
    for (const { status, upsert } of state.relationships.values()) {
      if (status !== "active") continue;
      const person = personOf(upsert.subject);
      this.#activeKeys.add(upsert.subject);
      this.#activeTypes.add(keyOf(person, upsert.relationship_type));
      if (!instant || validityAt(upsert, instant) === "active") {
        this.#effective.add(person);
      }
    }
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
    return this.#effective.has(this.#personOf(subject));
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
   */
  readmission(
    { relationship_id, subject, type }: Admission,
  ): EndedRelationship | undefined {
    const person = this.#personOf(subject);
    const endings = this.#endings.get(person) ?? [];
    const last = (of: (ending: Ending) => boolean = () => true) => {
      const found = endings.findLast(of);
      return found?.reason_code === "superseded" ? undefined : found;
    };
    const own = this.#state.relationships.get(relationship_id ?? "");
    const isReactivated = own?.status === "revoked";
    const found = (this.#effective.has(person) ? undefined : last()) ??
      this.#endedKey(subject, endings) ??
      (isReactivated
        ? last((each) => each.relationship_id === relationship_id)
        : undefined) ??
      (this.#activeTypes.has(keyOf(person, type))
        ? undefined
        : last((each) => each.type === type));
    if (found === undefined) return undefined;
    const { effective_at, reason_code, relationship_id: id, sequence } = found;
    return { relationship_id: id, sequence, reason_code, effective_at };
  }

  #endedKey(
    subject: string,
    endings: readonly Ending[],
  ): Ending | undefined {
    if (this.#activeKeys.has(subject)) return undefined;
    const ended = endings.findLast((each) => each.subject === subject);
    const others = this.keysOf(this.#personOf(subject));
    // Another key replaced it: it may be a lost laptop.
    return ended?.reason_code === "superseded" && others.length < 2
      ? undefined
      : ended;
  }

  /** Returns whether a key was ended, and has no active relationship. */
  isEndedKey(subject: string): boolean {
    const endings = this.#endings.get(this.#personOf(subject)) ?? [];
    return this.#endedKey(subject, endings) !== undefined;
  }

  /**
   * Returns the start of a relationship. One that begins again begins when it is
   * appended, if the wanted start is before the last end: otherwise the gap
   * would disappear from reports about the past. So does a further key of a
   * known person. Once appended, the wanted start counts as equal.
   *
   * @param published The relationship, if it is in the feed.
   */
  startOf(
    { relationship_id, subject, type }: Admission,
    wanted: string | null,
    published: PublishedRelationship | undefined,
    { isLinked = false, now, retroactive = false }: StartOptions,
  ): Start {
    const kept = { valid_from: wanted };
    const isActive = published?.status === "active";
    const stored = isActive ? published.upsert.valid_from : undefined;
    if (stored !== undefined && !isBefore(wanted, stored)) return kept;
    const begun = isActive ? published.active_since ?? 0 : Infinity;
    const further = this.#furtherSince(subject, now, isLinked);
    const isFurther = further !== undefined && isBefore(wanted, further);
    const end = this.#lastEnd({ relationship_id, subject, type }, begun);
    const isAgain = end !== undefined && isBefore(wanted, end);
    if (!isFurther && !isAgain) return kept;
    if (stored !== undefined) {
      return !isFurther && retroactive && end !== undefined
        ? { ...kept, gap: { from: end, until: stored ?? end } }
        : { valid_from: stored };
    }
    if (now === undefined) return kept;
    const begins = secondOf(now);
    return !isFurther && retroactive && end !== undefined
      ? { ...kept, gap: { from: end, until: begins } }
      : { valid_from: begins, replaces: wanted };
  }

  /**
   * Returns since when a key is a further key of its person; undefined for the
   * first key.
   */
  #furtherSince(
    subject: string,
    now: Date | undefined,
    isLinked: boolean,
  ): string | undefined {
    const first = this.#firsts.get(subject);
    const others = this.keysOf(this.#personOf(subject))
      .filter((key) => key !== subject);
    if (first === undefined) {
      const isFurther = isLinked || others.length > 0;
      return isFurther && now ? secondOf(now) : undefined;
    }
    const isFurther = others.some((key) =>
      this.#firsts.get(key)!.sequence < first.sequence
    );
    return isFurther ? first.issued_at : undefined;
  }

  /** Returns when a relationship, or one of its person and type, last ended. */
  #lastEnd(
    { relationship_id, subject, type }: Admission,
    before: number,
  ): string | undefined {
    const endings = this.#endings.get(this.#personOf(subject)) ?? [];
    return endings.findLast((each) =>
      each.sequence < before &&
      (each.type === type || each.relationship_id === relationship_id)
    )?.effective_at;
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
