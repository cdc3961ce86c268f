/**
 * The changes of relationships, caused by events or by the passing of time.
 * @module
 */

import {
  compareInstants,
  type Instant,
  isRevoke,
  isUpsert,
  parseTimestamp,
  type ReasonCode,
} from "@sig/core";
import { validityAt } from "@sig/core/internal";
import type { VerifiedEvent } from "@sig/consumer";

/** The members of a relationship that decide a question. */
interface Grant {
  readonly relationship_type: string;
  readonly roles: readonly string[];
  readonly valid_from: string | null;
  readonly valid_until: string | null;
}

/**
 * A change of one subject's relationship: gained, lost, changed or recorded.
 */
export interface DatedChange {
  /**
   * Time of the change: the event's `issued_at`, or a validity's start or end.
   */
  readonly at: string;
  /**
   * Time from which readers could know of it: `at`, but not before the latest
   * `issued_at` of the events up to its own. A backdated event did not exist at
   * its date (the same rule as for `as_of`, docs/protocol.md §5).
   */
  readonly known_at: string;
  /**
   * `gained` and `lost`: the relationship became active or inactive. `changed`:
   * it stays active, with other members. `recorded`: it was active neither
   * before nor after.
   */
  readonly kind: "gained" | "lost" | "changed" | "recorded";
  /** An event, or the start or end of a validity without an event. */
  readonly cause: "event" | "valid_from" | "valid_until";
  readonly subject: string;
  readonly relationship_id: string;
  readonly before: Grant | null;
  readonly after: Grant | null;
  readonly roles_gained: readonly string[];
  readonly roles_lost: readonly string[];
  /** Sequence of the event that made the change or set the validity. */
  readonly sequence: number;
  readonly event_id: string;
  /** The key that signed that event. */
  readonly kid: string;
  readonly reason_code: ReasonCode | null;
  readonly reason: string | null;
  /** The `effective_at` of a revoke; null for other changes. */
  readonly effective_at: string | null;
  /** Whether the end is before the event's own `issued_at`. */
  readonly backdated: boolean;
  /** Only of a void event, which changed nothing (docs/protocol.md §14.2). */
  readonly void?: true;
}

/** The last members of a change that no revoke gives a reason for. */
const NO_REASON = {
  reason_code: null,
  reason: null,
  effective_at: null,
  backdated: false,
} as const;

/** A relationship after its latest event. */
interface Version {
  readonly subject: string;
  /** The event that set this version. */
  readonly origin: Pick<DatedChange, "sequence" | "event_id" | "kid">;
  readonly grant: Grant;
  readonly isRevoked: boolean;
  readonly issuedAt: Instant;
  readonly knownAt: string;
}

/**
 * Collects the changes of a feed, event by event. Whether a relationship was
 * active before an event is decided at the time when the event became known. A
 * backdated event therefore removes nothing from an earlier report, even if its
 * date is before an end that has passed.
 */
export class ChangeList {
  readonly #latest = new Map<string, Version>();
  #known: string | null = null;

  /** The latest `issued_at`, null before the first event. */
  get knownUntil(): string | null {
    return this.#known;
  }

  /**
   * Adds the next verified event. Returns its changes, and before them the
   * starts and ends of validity since the previous event of the relationship.
   */
  add(
    { event, kid, isVoid }: Pick<VerifiedEvent, "event" | "kid" | "isVoid">,
  ): readonly DatedChange[] {
    if (isVoid) return [this.#voidChange({ event, kid })];
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
    // Feeds of other software may change the subject of a relationship: one
    // subject loses it, another gains it.
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

  /** An event that changed nothing, also not the time that is known. */
  #voidChange(
    { event, kid }: Pick<VerifiedEvent, "event" | "kid">,
  ): DatedChange {
    const { event_id, issued_at, relationship_id, sequence, subject } = event;
    const before = this.#latest.get(relationship_id);
    const grant = before === undefined || before.isRevoked
      ? null
      : before.grant;
    return {
      at: issued_at,
      known_at: this.#known ?? issued_at,
      kind: "recorded",
      cause: "event",
      subject,
      relationship_id,
      before: grant,
      after: grant,
      ...rolesOf(grant, grant),
      sequence,
      event_id,
      kid,
      ...NO_REASON,
      ...isRevoke(event) && {
        reason_code: event.reason_code,
        effective_at: event.effective_at,
      },
      void: true,
    };
  }

  /** Returns starts and ends of validity after the last event until `until`. */
  open(until: Instant): readonly DatedChange[] {
    return [...this.#latest].flatMap(([id, version]) =>
      validityChanges(id, version, until)
    );
  }
}

/** Returns the changes known after `from` and up to `to`, in that order. */
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

/** Returns the starts and ends of a version's validity up to `until`. */
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
    at,
    kind,
    cause,
    subject,
    relationship_id: id,
    known_at: laterOf(at, version.knownAt),
    before: kind === "lost" ? grant : null,
    after: kind === "gained" ? grant : null,
    ...rolesOf(
      kind === "lost" ? grant : null,
      kind === "gained" ? grant : null,
    ),
    ...origin,
    ...NO_REASON,
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
  return !isRevoked && validityAt(grant, at) === "active";
}

function kindOf(held: boolean, holds: boolean): DatedChange["kind"] {
  if (held === holds) return held ? "changed" : "recorded";
  return holds ? "gained" : "lost";
}

function rolesOf(
  before: Grant | null,
  after: Grant | null,
): Pick<DatedChange, "roles_gained" | "roles_lost"> {
  // Sets, since a line of an untrusted feed can hold thousands of roles.
  const had = new Set(before?.roles);
  const has = new Set(after?.roles);
  return {
    roles_gained: [...has.difference(had)],
    roles_lost: [...had.difference(has)],
  };
}

/** Parses a timestamp that was validated with its event. */
function instant(timestamp: string): Instant {
  return parseTimestamp(timestamp)!;
}
