/** What events and time change in relationships, one by one. @module */

import {
  compareInstants,
  type Instant,
  isRevoke,
  isUpsert,
  parseTimestamp,
  type ReasonCode,
} from "@sig/core";
import type { VerifiedEvent } from "@sig/consumer";

/** What a relationship gives, as far as a question looks at it. */
export interface Grant {
  readonly relationship_type: string;
  readonly roles: readonly string[];
  readonly valid_from: string | null;
  readonly valid_until: string | null;
}

/** Something that a subject gained or lost, or that was recorded of it. */
export interface DatedChange {
  /** When: the event's `issued_at`, or the start or end of a validity. */
  readonly at: string;
  /**
   * When it could be known: `at`, but not before the latest `issued_at` of the
   * events up to its own. An event that is dated back was not there at its date
   * (as `as_of` counts, docs/protocol.md §5).
   */
  readonly known_at: string;
  /**
   * `gained` and `lost`: it began or ceased to hold. `changed`: it holds on,
   * with other members. `recorded`: it held neither before nor after.
   */
  readonly kind: "gained" | "lost" | "changed" | "recorded";
  /** An event, or that a validity began or ended by itself. */
  readonly cause: "event" | "valid_from" | "valid_until";
  readonly subject: string;
  readonly relationship_id: string;
  readonly before: Grant | null;
  readonly after: Grant | null;
  readonly roles_gained: readonly string[];
  readonly roles_lost: readonly string[];
  /** Of the event that did it, or that had set the validity. */
  readonly sequence: number;
  readonly event_id: string;
  /** The key that signed that event. */
  readonly kid: string;
  readonly reason_code: ReasonCode | null;
  readonly reason: string | null;
  /** Since when it is ended, where an event says so. */
  readonly effective_at: string | null;
  /** It is said to have ended before the event that says so was issued. */
  readonly backdated: boolean;
}

/** One relationship as the last event left it. */
interface Version {
  readonly subject: string;
  /** The event. */
  readonly origin: Pick<DatedChange, "sequence" | "event_id" | "kid">;
  readonly grant: Grant;
  readonly isRevoked: boolean;
  readonly issuedAt: Instant;
  readonly knownAt: string;
}

/**
 * The changes of a feed, event by event. What held before an event is judged at
 * the time when the event came to be known: an event that is dated back, even
 * before an end that has passed, removes nothing from an earlier report.
 */
export class ChangeList {
  readonly #latest = new Map<string, Version>();
  #known: string | null = null;

  /** The latest `issued_at`, null before the first event. */
  get knownUntil(): string | null {
    return this.#known;
  }

  /** What the next verified event changes, and what had ended before it. */
  add(
    { event, kid }: Pick<VerifiedEvent, "event" | "kid">,
  ): readonly DatedChange[] {
    const knownAt = laterOf(event.issued_at, this.#known);
    this.#known = knownAt;
    const before = this.#latest.get(event.relationship_id);
    const issuedAt = instant(event.issued_at);
    if (isRevoke(event) && before === undefined) return [];
    if (!isUpsert(event) && !isRevoke(event)) return [];
    const id = event.relationship_id;
    const cameAt = instant(knownAt);
    const changes = before === undefined
      ? []
      : [...validityChanges(id, before, cameAt)];
    const grant: Grant = isUpsert(event)
      ? {
        relationship_type: event.relationship_type,
        roles: event.roles,
        valid_from: event.valid_from,
        valid_until: event.valid_until,
      }
      : before!.grant;
    const isRevoked = isRevoke(event);
    const { event_id, sequence } = event;
    const subject = isRevoked ? before!.subject : event.subject;
    const origin = { sequence, event_id, kid };
    const version = { subject, origin, grant, isRevoked, issuedAt, knownAt };
    this.#latest.set(id, version);
    // Another's feed may hand a relationship on: one loses it, another gains it.
    const own = before?.subject === subject ? before : undefined;
    const held = own !== undefined && holds(own, cameAt);
    const now = holds(version, issuedAt);
    const end = isRevoke(event)
      ? event.effective_at
      : version.grant.valid_until;
    const change: DatedChange = {
      at: event.issued_at,
      known_at: knownAt,
      kind: kindOf(held, now),
      cause: "event",
      subject,
      relationship_id: id,
      before: own === undefined || own.isRevoked ? null : own.grant,
      after: isRevoked ? null : grant,
      ...rolesOf(held ? own.grant : null, now ? grant : null),
      ...origin,
      reason_code: isRevoke(event) ? event.reason_code : null,
      reason: event.reason ?? null,
      effective_at: isRevoke(event) ? event.effective_at : null,
      backdated: end !== null && compareInstants(instant(end), issuedAt) < 0,
    };
    if (own === undefined && before !== undefined && !before.isRevoked) {
      const held = holds(before, cameAt);
      changes.push({
        ...change,
        kind: held ? "lost" : "recorded",
        subject: before.subject,
        before: before.grant,
        after: null,
        ...rolesOf(held ? before.grant : null, null),
        backdated: false,
      });
    }
    return [...changes, change];
  }

  /** What begins and ends by itself until then, after the last event. */
  open(until: Instant): readonly DatedChange[] {
    return [...this.#latest].flatMap(([id, version]) =>
      validityChanges(id, version, until)
    );
  }
}

/** Those that came to be known after `from` and up to `to`, in that order. */
export function changesBetween(
  changes: readonly DatedChange[],
  from: Instant | undefined,
  to: Instant,
): readonly DatedChange[] {
  return changes.filter(({ known_at }) => {
    const when = instant(known_at);
    return compareInstants(when, to) <= 0 &&
      (from === undefined || compareInstants(when, from) > 0);
  }).sort((a, b) =>
    compareInstants(instant(a.known_at), instant(b.known_at)) ||
    a.sequence - b.sequence ||
    compareInstants(instant(a.at), instant(b.at))
  );
}

/** What becomes of a version by itself, until an event replaces it. */
function validityChanges(
  id: string,
  version: Version,
  until: Instant,
): readonly DatedChange[] {
  if (version.isRevoked) return [];
  const { grant, origin, subject } = version;
  const crossed = (at: string | null): at is string =>
    at !== null && compareInstants(instant(at), version.issuedAt) > 0 &&
    compareInstants(instant(at), until) <= 0;
  const change = (
    at: string,
    kind: "gained" | "lost",
    cause: "valid_from" | "valid_until",
  ): DatedChange => ({
    ...{ at, kind, cause, subject, relationship_id: id },
    known_at: laterOf(at, version.knownAt),
    before: kind === "lost" ? grant : null,
    after: kind === "gained" ? grant : null,
    ...rolesOf(
      kind === "lost" ? grant : null,
      kind === "gained" ? grant : null,
    ),
    ...{ ...origin, reason_code: null, reason: null },
    ...{ effective_at: null, backdated: false },
  });
  const { valid_from, valid_until } = grant;
  return [
    ...(crossed(valid_from)
      ? [change(valid_from, "gained", "valid_from")]
      : []),
    ...(crossed(valid_until)
      ? [change(valid_until, "lost", "valid_until")]
      : []),
  ];
}

function laterOf(text: string, other: string | null): string {
  return other === null || compareInstants(instant(text), instant(other)) >= 0
    ? text
    : other;
}

function holds({ grant, isRevoked }: Version, at: Instant): boolean {
  const { valid_from, valid_until } = grant;
  return !isRevoked &&
    (valid_from === null || compareInstants(instant(valid_from), at) <= 0) &&
    (valid_until === null || compareInstants(instant(valid_until), at) > 0);
}

function kindOf(held: boolean, holds: boolean): DatedChange["kind"] {
  if (held === holds) return held ? "changed" : "recorded";
  return holds ? "gained" : "lost";
}

function rolesOf(
  before: Grant | null,
  after: Grant | null,
): Pick<DatedChange, "roles_gained" | "roles_lost"> {
  // As sets: a line of another's feed holds thousands.
  const had = new Set(before?.roles);
  const has = new Set(after?.roles);
  return {
    roles_gained: [...has.difference(had)],
    roles_lost: [...had.difference(has)],
  };
}

/** Of a timestamp that was validated with its event. */
function instant(timestamp: string): Instant {
  return parseTimestamp(timestamp)!;
}
