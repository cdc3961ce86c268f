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

/** The number of events in a block, whose latest instant is kept. */
const BLOCK_EVENTS = 1_024;
/** Before every timestamp. */
const BEFORE_ALL: Instant = { seconds: -Infinity, nanoseconds: 0 };
const EMPTY: readonly string[] = /* @__PURE__ */ Object.freeze([]);

/** Builds a {@linkcode FeedHistory} from events. */
export class HistoryBuilder implements FeedHistory {
  /** The identifiers of all relationships, by their first events. */
  readonly ids: string[] = [];
  readonly #versions = new Map<string, RelationshipVersion[]>();
  /** Identifiers by subject; a set only after a change of a subject. */
  readonly #bySubject = new Map<string, string[] | Set<string>>();
  readonly #persons: Persons;
  readonly #warnedAt = new Map<number, readonly string[]>();
  /** Seconds of each event's `issued_at`, by block. */
  readonly #seconds: Float64Array[] = [];
  /** Nanoseconds of each `issued_at`; undefined for a block of zeros. */
  readonly #nanoseconds: (Uint32Array | undefined)[] = [];
  #events = 0;
  /** The latest instant up to the end of each full block. */
  readonly #latest: Instant[] = [];
  readonly #keepOnly: string | null | undefined;
  /** Sequences of void events. */
  readonly #void = new Set<number>();

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
    for (const sequence of this.#void) copy.#void.add(sequence);
    for (const [sequence, subjects] of this.#warnedAt) {
      if (sequence <= events) copy.#warnedAt.set(sequence, subjects);
    }
    for (let at = 1; at <= events; at++) copy.#addTime(this.issuedAt(at));
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
    if (!(sequence >= 1 && sequence <= this.#events)) {
      throw new RangeError(`Cannot find event ${sequence}: it is not replayed`);
    }
    const block = Math.floor((sequence - 1) / BLOCK_EVENTS);
    const at = (sequence - 1) % BLOCK_EVENTS;
    return {
      seconds: this.#seconds[block]![at]!,
      nanoseconds: this.#nanoseconds[block]?.[at] ?? 0,
    };
  }

  prefixAt(instant: Instant): number {
    // The latest instants never decrease.
    const blocks = countFirst(
      this.#latest.length,
      (at) => compareInstants(this.#latest[at]!, instant) <= 0,
    );
    let events = blocks * BLOCK_EVENTS;
    while (
      events < this.#events &&
      (this.#void.has(events + 1) ||
        compareInstants(this.issuedAt(events + 1), instant) <= 0)
    ) events++;
    return events;
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
    this.#void.add(event.sequence);
    this.#addTime(validInstant(event.issued_at));
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

  #addTime({ seconds, nanoseconds }: Instant): void {
    const at = this.#events % BLOCK_EVENTS;
    if (at === 0) {
      this.#seconds.push(new Float64Array(BLOCK_EVENTS));
      this.#nanoseconds.push(undefined);
    }
    const block = this.#seconds.length - 1;
    this.#seconds[block]![at] = seconds;
    if (nanoseconds !== 0) {
      (this.#nanoseconds[block] ??= new Uint32Array(BLOCK_EVENTS))[at] =
        nanoseconds;
    }
    this.#events++;
    if (this.#events % BLOCK_EVENTS === 0) this.#endBlock();
  }

  #endBlock(): void {
    let latest = this.#latest.at(-1) ?? BEFORE_ALL;
    const to = this.#events;
    for (let sequence = to - BLOCK_EVENTS + 1; sequence <= to; sequence++) {
      if (this.#void.has(sequence)) continue;
      const issuedAt = this.issuedAt(sequence);
      if (compareInstants(issuedAt, latest) > 0) latest = issuedAt;
    }
    this.#latest.push(latest);
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
