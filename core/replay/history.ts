/** The versions of relationships in a feed (docs/protocol.md §5.2). @module */

import { isRevoke, isUpsert } from "../event/event.ts";
import { unmatchedRevoke } from "./feed_rules.ts";
import { Persons } from "./persons.ts";
import {
  compareInstants,
  type Instant,
  validInstant,
} from "../text/timestamp.ts";
import type {
  RelationshipRevokeEvent,
  RelationshipState,
  RelationshipUpsertEvent,
  SigEvent,
  UnknownEvent,
} from "../event/types.ts";

/** A relationship after one event. */
export interface RelationshipVersion {
  /** The state after the event. */
  readonly state: RelationshipState;
  /** The event's `issued_at`. */
  readonly issuedAt: Instant;
  /**
   * For a revoke: when the earlier versions end, which is the earlier of
   * `effective_at` and `issued_at` (docs/protocol.md §5).
   */
  readonly endsEarlierFrom?: Instant;
}

/** The history of a feed, for questions about any time. */
export interface FeedHistory {
  /** The versions of each relationship, in the order of the feed. */
  readonly versions: ReadonlyMap<string, readonly RelationshipVersion[]>;
  /** Returns all relationships that were ever about a subject. */
  relationshipsOf(subject: string): RelationshipIds;
  /** Returns the root of a subject's person after some events. */
  personOf(subject: string, events: number): string;
  /** Returns the `issued_at` of a replayed event. */
  issuedAt(sequence: number): Instant;
  /**
   * Returns the length of the longest prefix with every `issued_at` ≤ then;
   * those of void events are not compared.
   */
  prefixAt(instant: Instant): number;
  /** Returns the subjects of an event with a warning; none for others. */
  subjectsWarnedAt(sequence: number): readonly string[];
}

/** Distinct identifiers. */
export interface RelationshipIds extends Iterable<string> {
  /** The number of identifiers. */
  readonly size: number;
}

/** A class, because one is created for each question. */
class ListedIds implements RelationshipIds {
  readonly #ids: readonly string[];

  constructor(ids: readonly string[]) {
    this.#ids = ids;
  }

  get size(): number {
    return this.#ids.length;
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#ids.values();
  }
}

const EMPTY: readonly string[] = /* @__PURE__ */ Object.freeze([]);

/** Number of items in a block of a {@linkcode NumberList}. */
const BLOCK = 1024;

/**
 * A growing list of numbers in blocks. A plain array with a million numbers
 * takes up to three times the memory while it grows.
 */
class NumberList<T extends Float64Array | Uint32Array> {
  readonly #Block: new (length: number) => T;
  readonly #blocks: T[] = [];
  #length = 0;

  constructor(Block: new (length: number) => T) {
    this.#Block = Block;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns an item; undefined for an index outside the list. */
  at(index: number): number | undefined {
    return index < this.#length
      ? this.#blocks[Math.floor(index / BLOCK)]?.[index % BLOCK]
      : undefined;
  }

  /** Adds an item; returns the new length. */
  push(item: number): number {
    const at = this.#length % BLOCK;
    if (at === 0) this.#blocks.push(new this.#Block(BLOCK));
    this.#blocks.at(-1)![at] = item;
    return ++this.#length;
  }

  /** Returns a copy of the first `length` items. */
  until(length: number): NumberList<T> {
    const copy = new NumberList(this.#Block);
    for (let at = 0; at < length; at++) copy.push(this.at(at)!);
    return copy;
  }
}

/** Builds a {@linkcode FeedHistory} from events. */
export class HistoryBuilder implements FeedHistory {
  /** The identifiers of all relationships, by their first events. */
  readonly ids: string[] = [];
  readonly #versions = new Map<string, RelationshipVersion[]>();
  /** Identifiers by subject; a set only after a change of a subject. */
  readonly #bySubject = new Map<string, string[] | Set<string>>();
  readonly #persons: Persons;
  readonly #warnedAt = new Map<number, readonly string[]>();
  /** The two parts of each event's `issued_at`: an object takes more memory. */
  #seconds = new NumberList(Float64Array);
  #nanoseconds = new NumberList(Uint32Array);
  /**
   * For each event, the one up to it that was issued last and is not void; 0
   * without any.
   */
  #latest = new NumberList(Uint32Array);
  readonly #keepOnly: string | null | undefined;

  /**
   * Creates an empty history.
   *
   * @param keepOnly As in `Replay`.
   */
  constructor(keepOnly?: string | null, persons = new Persons()) {
    this.#keepOnly = keepOnly;
    this.#persons = persons;
  }

  /** Returns a copy of the first `events` events. */
  until(events: number): HistoryBuilder {
    const copy = new HistoryBuilder(
      this.#keepOnly,
      this.#persons.until(events),
    );
    for (const [sequence, subjects] of this.#warnedAt) {
      if (sequence <= events) copy.#warnedAt.set(sequence, subjects);
    }
    copy.#seconds = this.#seconds.until(events);
    copy.#nanoseconds = this.#nanoseconds.until(events);
    copy.#latest = this.#latest.until(events);
    for (const [id, versions] of this.#versions) {
      for (const version of versions) {
        if (version.state.last_sequence <= events) {
          copy.#addVersion(id, version);
        }
      }
    }
    return copy;
  }

  get versions(): ReadonlyMap<string, readonly RelationshipVersion[]> {
    return this.#versions;
  }

  relationshipsOf(subject: string): RelationshipIds {
    if (this.#keepOnly !== undefined && this.#keepOnly !== subject) {
      throw new TypeError("Cannot ask: nothing was kept about this subject");
    }
    const ids = this.#bySubject.get(subject) ?? EMPTY;
    // Not copied: these may be all relationships of the feed.
    return ids instanceof Set ? ids : new ListedIds(ids);
  }

  personOf(subject: string, events: number): string {
    if (this.#keepOnly !== undefined) {
      throw new TypeError("Cannot find a person: not all events were kept");
    }
    return this.#persons.rootOf(subject, events);
  }

  subjectsWarnedAt(sequence: number): readonly string[] {
    return this.#warnedAt.get(sequence) ?? EMPTY;
  }

  issuedAt(sequence: number): Instant {
    const seconds = this.#seconds.at(sequence - 1);
    const nanoseconds = this.#nanoseconds.at(sequence - 1);
    if (seconds !== undefined && nanoseconds !== undefined) {
      return { seconds, nanoseconds };
    }
    throw new RangeError(`Cannot find event ${sequence}: it is not replayed`);
  }

  prefixAt(instant: Instant): number {
    const isIn = (at: number) => {
      const latest = this.#latest.at(at)!;
      return latest === 0 ||
        compareInstants(this.issuedAt(latest), instant) <= 0;
    };
    return countFirst(this.#latest.length, isIn);
  }

  /** Records the subjects of an event with a warning. */
  warnAt(event: SigEvent | UnknownEvent): void {
    const { sequence, subject, relationship_id: id } = event;
    const before = this.#versions.get(id)?.at(-1)?.state.subject ?? subject;
    this.#warnedAt.set(
      sequence,
      before === subject ? [subject] : [subject, before],
    );
  }

  addVoid(event: SigEvent | UnknownEvent): void {
    this.#addTime(validInstant(event.issued_at), true);
  }

  /** Adds the next event; an event that does not apply only adds its time. */
  add(event: SigEvent | UnknownEvent, applies: boolean): void {
    const issuedAt = validInstant(event.issued_at);
    this.#addTime(issuedAt);
    if (!applies || (!isUpsert(event) && !isRevoke(event))) return;
    const id = event.relationship_id;
    const before = this.#versions.get(id)?.at(-1)?.state;
    if (before === undefined && !this.#keeps(event)) return;
    const isNew = isUpsert(event) && !this.#bySubject.has(event.subject);
    this.#addVersion(id, versionAfter(before, event));
    if (isNew) this.#persons.add(event);
  }

  #addVersion(id: string, version: RelationshipVersion): void {
    const { subject } = version.state;
    const versions = this.#versions.get(id);
    const before = versions?.at(-1)?.state.subject;
    if (versions) versions.push(version);
    else {
      this.#versions.set(id, [version]);
      this.ids.push(id);
    }
    if (before !== subject) this.#index(subject, id, before !== undefined);
  }

  /** Returns whether a relationship is kept from this event on. */
  #keeps(event: SigEvent): boolean {
    return this.#keepOnly === undefined ||
      // A revoke does not change the subject of the relationship.
      isUpsert(event) && event.subject === this.#keepOnly;
  }

  #addTime(issuedAt: Instant, isVoid = false): void {
    const sequence = this.#seconds.push(issuedAt.seconds);
    this.#nanoseconds.push(issuedAt.nanoseconds);
    const latest = this.#latest.at(sequence - 2) ?? 0;
    const isLatest = !isVoid &&
      (latest === 0 || compareInstants(issuedAt, this.issuedAt(latest)) > 0);
    this.#latest.push(isLatest ? sequence : latest);
  }

  /** Adds a relationship to a subject, to which it may have belonged before. */
  #index(subject: string, id: string, mayRepeat: boolean): void {
    const ids = this.#bySubject.get(subject);
    if (ids === undefined) this.#bySubject.set(subject, [id]);
    else if (ids instanceof Set) ids.add(id);
    else if (mayRepeat) this.#bySubject.set(subject, new Set(ids).add(id));
    else ids.push(id);
  }
}

/** Returns, by bisection, how many items hold; those after them must not. */
export function countFirst(
  length: number,
  holds: (at: number) => boolean,
): number {
  let low = 0;
  for (let high = length; low < high;) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the next version of a relationship.
 *
 * @throws {SigError} `revoke_without_upsert`
 */
function versionAfter(
  before: RelationshipState | undefined,
  event: RelationshipUpsertEvent | RelationshipRevokeEvent,
): RelationshipVersion {
  const state = stateAfter(before, event);
  const issuedAt = validInstant(event.issued_at);
  if (!isRevoke(event)) return { state, issuedAt };
  const endsEarlierFrom = earlier(issuedAt, validInstant(event.effective_at));
  return { state, issuedAt, endsEarlierFrom };
}

function earlier(a: Instant, b: Instant): Instant {
  return compareInstants(a, b) <= 0 ? a : b;
}

/**
 * Returns the state of a relationship after an event (docs/protocol.md §4). An
 * upsert replaces everything; a revoke keeps the upsert's members and adds two.
 *
 * @throws {SigError} `revoke_without_upsert`
 */
function stateAfter(
  before: RelationshipState | undefined,
  event: RelationshipUpsertEvent | RelationshipRevokeEvent,
): RelationshipState {
  if (isUpsert(event)) {
    return {
      issuer: event.issuer,
      relationship_id: event.relationship_id,
      subject: event.subject,
      relationship_type: event.relationship_type,
      roles: event.roles,
      valid_from: event.valid_from,
      valid_until: event.valid_until,
      status: "active",
      last_sequence: event.sequence,
    };
  }
  if (before === undefined) throw unmatchedRevoke(event);
  return {
    issuer: before.issuer,
    relationship_id: before.relationship_id,
    subject: before.subject,
    relationship_type: before.relationship_type,
    roles: before.roles,
    valid_from: before.valid_from,
    valid_until: before.valid_until,
    status: "revoked",
    revoked_reason_code: event.reason_code,
    revoked_effective_at: event.effective_at,
    last_sequence: event.sequence,
  };
}
