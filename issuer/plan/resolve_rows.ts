/** Finds the published relationships that the rows of a list mean. @module */

import { quote } from "@sig/core/internal";
import type { KeyRow } from "./list_rows.ts";
import { plannedFields } from "./members.ts";
import type { PersonIndex } from "./person_index.ts";
import {
  ambiguous,
  collectFault,
  invalid,
  type RowFault,
  severalOfOtherKey,
} from "./plan_faults.ts";
import { keyOf, type PublishedRelationship } from "./published.ts";
import {
  contradiction,
  differing,
  membersOf,
  requireOnlyOne,
  type Resolved,
  shareWith,
} from "./resolved_row.ts";

/** The rows of a list, with what each means in the feed. */
export class ResolvedRows {
  readonly #index: PersonIndex;
  readonly #types: readonly string[] | undefined;
  /** The rows by person. */
  readonly #rows: ReadonlyMap<string, readonly KeyRow[]>;
  /** By relationship, or by subject and type for a new relationship. */
  readonly #resolved = new Map<string, Resolved>();
  readonly #byPerson: ReadonlyMap<string, readonly Resolved[]>;
  readonly #managed: Map<PublishedRelationship, Resolved>;

  /**
   * @param types The types that the list manages (default: all).
   * @param faults Receives the faults of rows.
   */
  constructor(
    index: PersonIndex,
    rows: readonly KeyRow[],
    types: readonly string[] | undefined,
    faults: RowFault[],
  ) {
    this.#index = index;
    this.#types = types;
    this.#rows = Map.groupBy(rows, ({ subject }) => index.personOf(subject));
    for (const row of rows) {
      collectFault(faults, row, () => {
        this.#requireInScope(row.type);
        this.#addOnce({ desired: row, ...this.#find(row) });
      });
    }
    this.#byPerson = Map.groupBy(
      this.all,
      ({ desired }) => index.personOf(desired.subject),
    );
    this.#managed = new Map(
      this.all.flatMap((each) =>
        each.published === undefined ? [] : [[each.published, each]]
      ),
    );
  }

  /** The rows, in the order of the list; equal ones count once. */
  get all(): readonly Resolved[] {
    return [...this.#resolved.values()];
  }

  /** Whether a row is about a relationship, or about its person and type. */
  isManaged(published: PublishedRelationship): boolean {
    return this.#managed.has(published);
  }

  /**
   * Returns what a row changes: its relationship, those of the person's other
   * keys, and those that it replaces. From then on, they are managed.
   *
   * @throws {SigError} `ambiguous_relationship`, `invalid_field`
   */
  assign(row: Resolved): readonly Resolved[] {
    const { subject, type } = row.desired;
    const group = this.#ofPerson(subject)
      .filter(({ desired }) => desired.type === type);
    requireOnlyOne(row, group);
    const changed = [
      ...this.#moved(row) ??
        [...this.#forActiveKeys(row), ...this.#sharedWith(row)],
    ];
    const manage = (each: Resolved) => {
      if (each.published !== undefined) this.#managed.set(each.published, each);
    };
    changed.forEach(manage);
    const keys = this.#keysOf(subject);
    const replaced = this.#index.activeOf(subject, type)
      .filter((each) =>
        keys.length > 0 && !keys.includes(each.upsert.subject) &&
        !this.isManaged(each)
      )
      .map((published): Resolved => ({ ...row, published, as: "replaced" }));
    replaced.forEach(manage);
    return [...changed, ...replaced];
  }

  /** Returns whether the list manages relationships of a type. */
  isInScope(type: string): boolean {
    return this.#types?.includes(type) ?? true;
  }

  #requireInScope(type: string): void {
    if (this.isInScope(type)) return;
    throw invalid(
      "type",
      `type ${quote(type)} is outside of what this list manages (${
        this.#types?.join(", ")
      })`,
    );
  }

  #rowsOf(subject: string): readonly KeyRow[] {
    return this.#rows.get(this.#index.personOf(subject)) ?? [];
  }

  #ofPerson(subject: string): readonly Resolved[] {
    return this.#byPerson.get(this.#index.personOf(subject)) ?? [];
  }

  /** Returns the keys that the list has for a person whose keys it names. */
  #keysOf(subject: string): readonly string[] {
    return this.#rowsOf(subject)
      .flatMap(({ ofPerson, subject }) => ofPerson ? [subject] : []);
  }

  /** Finds the relationships that a row is about. */
  #find(row: KeyRow): Pick<Resolved, "published" | "others"> {
    const { ofPerson, relationship_id: id, subject, type } = row;
    if (id !== undefined) {
      const published = this.#index.state.relationships.get(id);
      const active = published?.status === "active"
        ? published.upsert.relationship_type
        : type;
      const others = this.#othersThanNamed(row, id, new Set([type, active]));
      this.#requireInScope(active);
      return { published, others };
    }
    const candidates = this.#index.activeOf(subject, type)
      .filter(({ upsert }) => !ofPerson || upsert.subject === subject);
    const bySubject = Map.groupBy(candidates, ({ upsert }) => upsert.subject);
    const several = bySubject.values().find(({ length }) => length > 1);
    if (several === undefined) {
      const [own] = bySubject.get(subject) ?? [];
      const first = this.#index.isKnown(subject) ? candidates[0] : undefined;
      const published = own ?? first;
      const others = candidates.filter((each) => each !== published);
      return { published, others };
    }
    const ids = several.map(({ upsert }) => upsert.relationship_id);
    throw ambiguous(
      `${
        quote(several[0]!.upsert.subject)
      } has ${several.length} active relationships of type ${type}: ${
        ids.slice(0, 5).map(quote).join(", ")
      }`,
      "Name the one that is meant by relationship_id.",
      ids,
    );
  }

  /**
   * Returns the relationships of other keys that change together with a named
   * one: each other key has at most one of the types, so it is the same access.
   */
  #othersThanNamed(
    { subject: holder, type }: KeyRow,
    id: string,
    types: ReadonlySet<string>,
  ): readonly PublishedRelationship[] {
    const rows = this.#rowsOf(holder);
    const named = rows.filter(({ relationship_id }) => relationship_id);
    const others = [...types].flatMap((each) =>
      this.#index.activeOf(holder, each)
    ).filter(({ upsert: { subject } }) =>
      subject !== holder &&
      !rows.some((row) =>
        row.ofPerson && row.subject === subject && row.type === type
      )
    );
    const isNamed = ({ upsert }: PublishedRelationship) =>
      named.some((row) => row.relationship_id === upsert.relationship_id);
    const byKey = Map.groupBy(others, ({ upsert }) => upsert.subject);
    for (const [key, of] of byKey) {
      // A list may also add a second one.
      const isSecond = named.some((row) =>
        row.subject === key && types.has(row.type) &&
        !of.some(({ upsert }) => upsert.relationship_id === row.relationship_id)
      );
      if (of.length < 2 && !isSecond || of.every(isNamed)) continue;
      throw severalOfOtherKey("plan", id, of);
    }
    return others;
  }

  /** Adds a row once; refuses different rows for one relationship. */
  #addOnce(each: Resolved): void {
    const { desired } = each;
    const { relationship_id, subject, type } = desired;
    const id = each.published?.upsert.relationship_id ?? relationship_id;
    const key = id === undefined ? `new ${keyOf(subject, type)}` : `id ${id}`;
    const other = this.#resolved.get(key);
    const changed = other === undefined ? undefined : differing(other, each);
    if (other === undefined) this.#resolved.set(key, each);
    else if (changed !== undefined || other.desired.subject !== subject) {
      throw contradiction("the same relationship as", other, changed);
    } else if (relationship_id === undefined) {
      // Keep the row without identifier, so that `requireOnlyOne` checks it.
      const { row } = other.desired;
      this.#resolved.set(key, { ...each, desired: { ...desired, row } });
    }
  }

  /**
   * Returns a row for each active key of the person, if the row is about another
   * known key. A new id is about an active key already (`expandRows`).
   */
  #forActiveKeys(row: Resolved): readonly Resolved[] {
    const { desired, published } = row;
    const { ofPerson, subject } = desired;
    const isNew = !this.#index.isKnown(subject);
    if (published || ofPerson || isNew) return [row];
    const active = this.#index.activeOf(subject);
    const keys = new Set(active.map(({ upsert }) => upsert.subject));
    if (keys.size === 0 || keys.has(subject)) return [row];
    return Array.from(
      keys,
      (subject) => ({ desired: { ...desired, subject }, published }),
    );
  }

  /** Returns the rows of the person's other keys, except listed ones. */
  #sharedWith({ desired, others = [] }: Resolved): readonly Resolved[] {
    return others.flatMap((published) => {
      const each = shareWith(published, desired);
      const known = this.#managed.get(published);
      if (known === undefined) return [each];
      const fields = plannedFields(membersOf(known), membersOf(each));
      if (known.others !== undefined || fields.length === 0) return [];
      const { relationship_id, subject } = published.upsert;
      throw ambiguous(
        `several rows are about the person of ${
          quote(subject)
        } and differ, so that ${quote(relationship_id)} could become either`,
        "Name this relationship in a row of its own, too.",
        [relationship_id],
      );
    });
  }

  /**
   * Returns what a row replaces, if each key of the person has one active
   * relationship, all of another type than the person's rows.
   */
  #moved(row: Resolved): readonly Resolved[] | undefined {
    const { desired } = row;
    const rows = this.#ofPerson(desired.subject);
    const old = this.#index.activeOf(desired.subject);
    const isNew = rows.every(({ desired, published }) =>
      published === undefined && desired.relationship_id === undefined
    );
    const [type, ...types] = new Set(
      old.map(({ upsert }) => upsert.relationship_type),
    );
    const keys = new Set(old.map(({ upsert }) => upsert.subject));
    if (
      type === undefined || !isNew || keys.size < old.length ||
      rows.some((each) => each.desired.type !== desired.type) ||
      type === desired.type || types.length > 0 || !this.isInScope(type)
    ) return undefined;
    const kept = this.#keysOf(desired.subject);
    const isFirst = rows[0] === row;
    const owners = new Set(rows.map(({ desired }) => desired.subject));
    const hasOwn = old.some(({ upsert }) => owners.has(upsert.subject));
    // A row about a key without an event adds that key.
    const isOfPerson = isFirst && !hasOwn && kept.length === 0 &&
      this.#index.isKnown(desired.subject);
    const own = old.find(({ upsert }) => upsert.subject === desired.subject) ??
      (isOfPerson ? old[0] : undefined);
    const rest = old.filter((each) =>
      isFirst && each !== own && !owners.has(each.upsert.subject)
    );
    return [
      own === undefined ? row : { desired, published: own, as: "move" },
      ...rest.map((published): Resolved =>
        kept.length === 0 || kept.includes(published.upsert.subject)
          ? { ...shareWith(published, desired), as: "move" }
          : { desired, published, as: "replaced" }
      ),
    ];
  }
}
