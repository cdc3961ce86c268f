/** The history of some relationships, replayed from their lines only. @module */

import {
  compareInstants,
  type Instant,
  isRevoke,
  isUpsert,
  type RelationshipIds,
  type RelationshipVersion,
  type ReplayStart,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import {
  type GrowingHistory,
  validInstant,
  versionAfter,
} from "@sig/core/internal";

const NO_IDS: ReadonlySet<string> = new Set();

/**
 * Answers questions about the subjects, and the past time, whose lines were
 * read.
 */
export class PartialHistory implements GrowingHistory {
  readonly versions: Map<string, RelationshipVersion[]> = new Map();
  readonly #bySubject = new Map<string, Set<string>>();
  readonly #issuedAt = new Map<number, Instant>();
  readonly #warnedAt = new Map<number, readonly string[]>();
  #prefix: { readonly instant: Instant; readonly events: number } | undefined;

  relationshipsOf(subject: string): RelationshipIds {
    return this.#bySubject.get(subject) ?? NO_IDS;
  }

  personOf(): string {
    throw new TypeError("Cannot find a person: not all events were read");
  }

  issuedAt(sequence: number): Instant {
    const instant = this.#issuedAt.get(sequence);
    if (instant !== undefined) return instant;
    throw new RangeError(`Cannot find event ${sequence}: it was not read`);
  }

  prefixAt(instant: Instant): number {
    const prefix = this.#prefix;
    if (prefix && compareInstants(prefix.instant, instant) === 0) {
      return prefix.events;
    }
    throw new RangeError("Cannot find the events of a time: it was not read");
  }

  subjectsWarnedAt(sequence: number): readonly string[] {
    return this.#warnedAt.get(sequence) ?? [];
  }

  learnPrefix(instant: Instant, events: number): void {
    this.#prefix = { instant, events };
  }

  learnInstant(sequence: number, issuedAt: Instant): void {
    this.#issuedAt.set(sequence, issuedAt);
  }

  warnAt(event: SigEvent | UnknownEvent): void {
    const { sequence, subject, relationship_id: id } = event;
    const before = this.versions.get(id)?.at(-1)?.state.subject ?? subject;
    this.#warnedAt.set(
      sequence,
      before === subject ? [subject] : [subject, before],
    );
  }

  addVoid(event: SigEvent | UnknownEvent): void {
    this.add(event, false);
  }

  add(event: SigEvent | UnknownEvent, applies: boolean): void {
    this.learnInstant(event.sequence, validInstant(event.issued_at));
    if (!applies || (!isUpsert(event) && !isRevoke(event))) return;
    const id = event.relationship_id;
    const versions = this.versions.get(id) ?? [];
    const version = versionAfter(versions.at(-1)?.state, event);
    versions.push(version);
    this.versions.set(id, versions);
    const { subject } = version.state;
    const ids = this.#bySubject.get(subject) ?? new Set();
    this.#bySubject.set(subject, ids.add(id));
  }
}

/** Returns the start of a replay (default: before the first event). */
export function replayFrom(
  history: GrowingHistory,
  part: Partial<ReplayStart> = {},
): ReplayStart {
  return {
    lastSequence: 0,
    latest: undefined,
    warnings: [],
    warningsLeftOut: 0,
    ...part,
    history,
  };
}
