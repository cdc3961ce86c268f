/** What a feed says that is read from its first event, until it is staged. @module */

import {
  type FeedHistory,
  type GrowingHistory,
  type Instant,
  type RelationshipIds,
  type SigEvent,
  type Steps,
  type UnknownEvent,
  validInstant,
} from "@sig/core";

/** An event that was verified, and what the rules said of it. */
export interface ArrivedEvent {
  /** The event. */
  readonly event: SigEvent | UnknownEvent;
  /** Whether it changes its relationship. */
  readonly applies: boolean;
  /** Whether it was warned about. */
  readonly isWarned: boolean;
}

/**
 * Holds events as they come, for somebody who takes them away: of those that
 * were taken it knows only what the row of the warnings needs.
 */
export class ArrivingHistory implements GrowingHistory {
  #arrived: ArrivedEvent[] = [];
  #lastWarned = 0;
  readonly #issuedAt = new Map<number, Instant>();
  readonly #warnedAt = new Map<number, readonly string[]>();

  /** How many were not taken yet. */
  get waiting(): number {
    return this.#arrived.length;
  }

  /** Takes those that have come. */
  take(): readonly ArrivedEvent[] {
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }

  /** Takes whom an event is about that was warned about. */
  learnWarning(sequence: number, subjects: readonly string[]): void {
    this.#warnedAt.set(sequence, subjects);
  }

  warnAt({ sequence }: SigEvent | UnknownEvent): void {
    // Whom its relationship was about before is read with its rows.
    this.#lastWarned = sequence;
  }

  add(event: SigEvent | UnknownEvent, applies: boolean): void {
    const { sequence, issued_at } = event;
    const isWarned = this.#lastWarned === sequence;
    if (isWarned) this.#issuedAt.set(sequence, validInstant(issued_at));
    this.#arrived.push({ event, applies, isWarned });
  }

  issuedAt(sequence: number): Instant {
    const instant = this.#issuedAt.get(sequence);
    if (instant !== undefined) return instant;
    throw new RangeError(`Cannot find event ${sequence}: it was not kept`);
  }

  subjectsWarnedAt(sequence: number): readonly string[] {
    return this.#warnedAt.get(sequence) ?? [];
  }

  get versions(): FeedHistory["versions"] {
    throw notKept();
  }

  relationshipsOf(_subject: string): RelationshipIds {
    throw notKept();
  }

  sortedIds(): Steps<readonly string[]> {
    throw notKept();
  }

  prefixAt(_instant: Instant): number {
    throw notKept();
  }
}

function notKept(): TypeError {
  return new TypeError("Cannot ask: a store has the state, or will have it");
}
