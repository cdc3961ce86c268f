/** A history of which only the part that is needed is in memory. @module */

import {
  compareInstants,
  type FeedHistory,
  type GrowingHistory,
  type Instant,
  isRevoke,
  isUpsert,
  type RelationshipIds,
  type RelationshipVersion,
  type SigEvent,
  type Steps,
  type UnknownEvent,
  validInstant,
  versionAfter,
} from "@sig/core";

const NOBODY: ReadonlySet<string> = new Set();

/**
 * The relationships that ever were about a subject, in the order in which they
 * came to be: answers list them so.
 */
export function relationshipsBySubject(
  versions: FeedHistory["versions"],
): ReadonlyMap<string, readonly string[]> {
  const begins: { sequence: number; subject: string; id: string }[] = [];
  for (const [id, all] of versions) {
    const first = all[0]!.state;
    begins.push({ sequence: first.last_sequence, subject: first.subject, id });
    // Lists, and a set only here: very many relationships have one subject.
    let subjects: Set<string> | undefined;
    for (const { state: { subject, last_sequence: sequence } } of all) {
      if (subject === first.subject || subjects?.has(subject)) continue;
      subjects = (subjects ?? new Set()).add(subject);
      begins.push({ sequence, subject, id });
    }
  }
  begins.sort((a, b) => a.sequence - b.sequence);
  const found = new Map<string, string[]>();
  for (const { subject, id } of begins) {
    const ids = found.get(subject);
    if (ids === undefined) found.set(subject, [id]);
    else ids.push(id);
  }
  return found;
}

/**
 * What was read of a stored state, and what came after it. Whoever asks it must
 * have read what the question is about: for a subject, its relationships; for a
 * time, how many events were known then.
 */
export class StoredHistory implements GrowingHistory {
  readonly #versions = new Map<string, readonly RelationshipVersion[]>();
  readonly #bySubject = new Map<string, Set<string>>();
  readonly #issuedAt = new Map<number, Instant>();
  readonly #warnedAt = new Map<number, readonly string[]>();
  #prefix: { readonly instant: Instant; readonly events: number } | undefined;

  get versions(): ReadonlyMap<string, readonly RelationshipVersion[]> {
    return this.#versions;
  }

  relationshipsOf(subject: string): RelationshipIds {
    return this.#bySubject.get(subject) ?? NOBODY;
  }

  // deno-lint-ignore require-yield -- others sort in steps; this reads rows in them
  *sortedIds(): Steps<readonly string[]> {
    return [...this.#versions.keys()].sort();
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

  /** Takes a relationship as it was read. */
  learnRelationship(
    id: string,
    versions: readonly RelationshipVersion[],
  ): void {
    if (versions.length > 0) this.#versions.set(id, versions);
  }

  /** Takes the relationships of a subject as they were read. */
  learnSubject(subject: string, ids: Iterable<string>): void {
    this.#bySubject.set(subject, new Set(ids));
  }

  /** Takes how many events were known at a time. */
  learnPrefix(instant: Instant, events: number): void {
    this.#prefix = { instant, events };
  }

  /** Takes when an event was issued. */
  learnInstant(sequence: number, issuedAt: Instant): void {
    this.#issuedAt.set(sequence, issuedAt);
  }

  /** Takes whom an event is about that was warned about. */
  learnWarning(sequence: number, subjects: readonly string[]): void {
    this.#warnedAt.set(sequence, subjects);
  }

  warnAt({ sequence, subject, relationship_id: id }: SigEvent): void {
    const before = this.#versions.get(id)?.at(-1)?.state.subject ?? subject;
    this.#warnedAt.set(
      sequence,
      before === subject ? [subject] : [subject, before],
    );
  }

  add(event: SigEvent | UnknownEvent, applies: boolean): void {
    this.#issuedAt.set(event.sequence, validInstant(event.issued_at));
    if (!applies || (!isUpsert(event) && !isRevoke(event))) return;
    const id = event.relationship_id;
    const versions = this.#versions.get(id) ?? [];
    const version = versionAfter(versions.at(-1)?.state, event);
    this.#versions.set(id, [...versions, version]);
    const { subject } = version.state;
    const ids = this.#bySubject.get(subject) ?? new Set();
    this.#bySubject.set(subject, ids.add(id));
  }
}
