/** A history of some relationships, replayed from their lines alone. @module */

import {
  compareInstants,
  type FeedState,
  type Instant,
  isRevoke,
  isUpsert,
  type ParsedTime,
  type RelationshipIds,
  type RelationshipVersion,
  type ReplayStart,
  type SigEvent,
  type UnknownEvent,
  type Warning,
} from "@sig/core";
import {
  type GrowingHistory,
  validInstant,
  versionAfter,
} from "@sig/core/internal";

/** Which part of a state a question is about. */
export interface StatePart {
  /** The only subjects (default: all). */
  readonly subjects?: readonly string[] | undefined;
  /** The time of the past that the question is about. */
  readonly asOf?: ParsedTime["asOf"];
  /** What was true at which time; null for now (default: any may be asked). */
  readonly at?: ParsedTime["at"] | null;
}

const NOBODY: ReadonlySet<string> = new Set();

/**
 * What the lines about some subjects say. It answers questions about those, and
 * about the time of the past that was read with them.
 */
export class PartialHistory implements GrowingHistory {
  readonly versions: Map<string, RelationshipVersion[]> = new Map();
  readonly #bySubject = new Map<string, Set<string>>();
  readonly #issuedAt = new Map<number, Instant>();
  readonly #warnedAt = new Map<number, readonly string[]>();
  #prefix: { readonly instant: Instant; readonly events: number } | undefined;

  relationshipsOf(subject: string): RelationshipIds {
    return this.#bySubject.get(subject) ?? NOBODY;
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

  /** Takes how many events were known at a time. */
  learnPrefix(instant: Instant, events: number): void {
    this.#prefix = { instant, events };
  }

  /** Takes when an event was issued. */
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

/** A warning, and when its event was issued where that was ahead of the clock. */
export type StoredWarning = Warning & { readonly issued_at?: Instant };

/** Keeps of a history only when the events were issued that were warned about. */
export class WarnedEvents extends PartialHistory {
  /** Begins with warnings that are stored. */
  constructor(warnings: readonly StoredWarning[] = []) {
    super();
    for (const { sequence, issued_at } of warnings) {
      if (sequence && issued_at) this.learnInstant(sequence, issued_at);
    }
  }

  override warnAt({ sequence, issued_at }: SigEvent | UnknownEvent): void {
    this.learnInstant(sequence, validInstant(issued_at));
  }

  override add(): void {}
}

/** Where a replay begins (default: before the first event). */
export function replayFrom(
  history: GrowingHistory,
  part: Partial<ReplayStart> = {},
): ReplayStart {
  return {
    ...{ lastSequence: 0, latest: undefined, warnings: [], warningsLeftOut: 0 },
    ...part,
    history,
  };
}

/** The state of an issuer, as far as its history was read. */
export function stateOf(
  issuer: string,
  last_sequence: number,
  history: PartialHistory,
): FeedState {
  return {
    issuer,
    last_sequence,
    get by_relationship_id() {
      return new Map(
        Array.from(history.versions, ([id, all]) => [id, all.at(-1)!.state]),
      );
    },
    history,
  };
}
