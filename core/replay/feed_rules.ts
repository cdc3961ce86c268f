/** The rules between the events of a feed (docs/protocol.md §2–§4). @module */

import { SigError } from "../errors/error.ts";
import { findEventWarnings, isRevoke, isUpsert } from "../event/event.ts";
import { DEFAULT_LIMITS, type Limits } from "../text/limits.ts";
import {
  addSeconds,
  compareInstants,
  formatInstant,
  type Instant,
  validInstant,
} from "../text/timestamp.ts";
import type {
  RelationshipRevokeEvent,
  SigEvent,
  UnknownEvent,
  Warning,
  WarningCode,
} from "../event/types.ts";

/** Options of {@linkcode FeedRules}. */
export interface ReplayOptions {
  /** The issuer that every event must name (default: the first event's). */
  readonly issuer?: string;
  /**
   * Whether a revoke without an earlier upsert is ignored with a warning, or
   * rejected (default: `ignore`).
   */
  readonly unmatchedRevoke?: "ignore" | "reject";
  /**
   * The reader's clock time, for the warning `issued_at_future`. It is read for
   * each event, so a getter keeps it current in a long replay.
   */
  readonly now?: Instant;
  /** Size limits (default: {@linkcode DEFAULT_LIMITS}). */
  readonly limits?: Limits;
}

/** The result of an accepted event. */
export interface Accepted {
  /** Whether the event changes the state. */
  readonly applies: boolean;
  /** Oddities of the event. */
  readonly warnings: readonly Warning[];
}

const DAY_SECONDS = 86_400;

type Warn = (code: WarningCode, detail: string) => void;

/** The state from which to continue earlier rules. */
export interface RulesStart {
  /** Sequence of the last accepted event. */
  readonly lastSequence: number;
  /** The latest `issued_at` so far. */
  readonly latest: Instant | undefined;
  /** Access to the earlier events. */
  readonly past?: PastEvents | undefined;
}

/** Access to events that were accepted earlier. */
export interface PastEvents {
  /** Returns whether an earlier event has this `event_id`. */
  hasEvent(eventId: string): boolean;
  /** Returns a relationship after its last event, if it has an upsert. */
  relationship(id: string): PastRelationship | undefined;
}

/** The part of a relationship that the rules need. */
export interface PastRelationship {
  /** The subject of its last upsert. */
  readonly subject: string;
  /** Whether its last event is a revoke. */
  readonly revoked: boolean;
}

/**
 * Checks one event after the other: issuer, sequence, event_id, and the target
 * of a revoke. It keeps one entry for each event and relationship, not the
 * events.
 *
 * @example Reject a gap in the sequence
 * ```ts
 * import { FeedRules, isSigError, type SigEvent } from "@sig/core";
 * import { assert, assertThrows } from "@std/assert";
 *
 * const event: SigEvent = {
 *   spec_version: "sig/0.1",
 *   event_id: "01",
 *   event_type: "relationship.revoke",
 *   issuer: "did:web:acme.example",
 *   issued_at: "2026-01-01T00:00:00Z",
 *   sequence: 2,
 *   relationship_id: "r1",
 *   subject: "did:web:alice.example",
 *   visibility: "public",
 *   revokes_relationship_id: "r1",
 *   reason_code: "admin_action",
 *   effective_at: "2026-01-01T00:00:00Z",
 * };
 * const error = assertThrows(() => new FeedRules().accept(event));
 * assert(isSigError(error, "sequence_gap"));
 * ```
 */
export class FeedRules {
  readonly #options: ReplayOptions;
  readonly #limits: Limits;
  readonly #eventIds = new Set<string>();
  /** The subject of each relationship with an upsert, by its identifier. */
  readonly #subjects = new Map<string, string>();
  /** The relationships whose last event is a revoke. */
  readonly #revoked = new Set<string>();
  /** The relationships of void events. */
  readonly #void = new Set<string>();
  readonly #past: PastEvents | undefined;
  #issuer: string | undefined;
  #lastSequence: number;
  #events: number;
  #latest: Instant | undefined;

  /** Starts before the first event, or continues earlier rules. */
  constructor(options: ReplayOptions = {}, start?: RulesStart) {
    this.#lastSequence = this.#events = start?.lastSequence ?? 0;
    this.#latest = start?.latest;
    this.#past = start?.past;
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#issuer = options.issuer;
  }

  /** The issuer; undefined until it is given or read from an event. */
  get issuer(): string | undefined {
    return this.#issuer;
  }

  /** Sequence of the last accepted event; 0 before the first. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** The latest `issued_at` so far. */
  get latest(): Instant | undefined {
    return this.#latest;
  }

  /**
   * Accepts the next event, or throws and changes nothing.
   *
   * @param isVoid Whether the event's key had ended (docs/protocol.md §14.2):
   * the event then only uses up its sequence and `event_id`, and a later revoke
   * of its relationship is not one without an upsert.
   * @throws {SigError} `issuer_mismatch`, `sequence_gap`,
   * `sequence_out_of_order`, `duplicate_event_id`, `too_many_events`,
   * `revoke_without_upsert` (with `unmatchedRevoke: "reject"`).
   */
  accept(event: SigEvent | UnknownEvent, isVoid = false): Accepted {
    this.#checkPlace(event);
    if (isVoid) {
      this.#void.add(event.relationship_id);
      this.#take(event);
      return { applies: false, warnings: [] };
    }
    const before = this.#subjectOf(event.relationship_id);
    const unmatched = isRevoke(event) && before === undefined &&
      !this.#void.has(event.relationship_id);
    if (unmatched && this.#options.unmatchedRevoke === "reject") {
      throw unmatchedRevoke(event);
    }
    const warnings: Warning[] = findEventWarnings(event, this.#limits);
    const warn: Warn = (code, detail) =>
      warnings.push({ code, detail, sequence: event.sequence });
    this.#checkTime(event, warn);
    this.#take(event);
    const applies = this.#relate(event, before, warn);
    return { applies, warnings };
  }

  #take(event: SigEvent | UnknownEvent): void {
    this.#issuer ??= event.issuer;
    this.#lastSequence = event.sequence;
    this.#eventIds.add(event.event_id);
    this.#events++;
  }

  /**
   * Continues after a sequence, such as that of a faulty event, so that one
   * fault is reported once.
   */
  resume(lastSequence: number): void {
    this.#lastSequence = lastSequence;
  }

  /** Returns the subject of a relationship, if it has an upsert. */
  #subjectOf(id: string): string | undefined {
    const known = this.#subjects.get(id);
    const past = known === undefined ? this.#past?.relationship(id) : undefined;
    if (past === undefined) return known;
    this.#subjects.set(id, past.subject);
    if (past.revoked) this.#revoked.add(id);
    return past.subject;
  }

  #checkPlace(event: SigEvent | UnknownEvent): void {
    if (this.#issuer !== undefined && event.issuer !== this.#issuer) {
      throw new SigError("issuer_mismatch", {
        action: "apply event",
        reason: "its issuer is not the feed's",
        context: {
          sequence: event.sequence,
          pointer: "/issuer",
          expected: this.#issuer,
        },
      });
    }
    const expected = this.#lastSequence + 1;
    if (event.sequence !== expected) {
      const last = this.#lastSequence;
      const gap = event.sequence > expected;
      throw new SigError(
        gap ? "sequence_gap" : "sequence_out_of_order",
        {
          action: "apply event",
          reason: event.sequence === last
            ? `sequence ${last} occurs twice`
            : `sequence ${
              gap ? "jumps" : "goes back"
            } from ${last} to ${event.sequence}`,
          context: { sequence: event.sequence, expected },
        },
      );
    }
    const id = event.event_id;
    if (this.#eventIds.has(id) || this.#past?.hasEvent(id)) {
      throw new SigError("duplicate_event_id", {
        action: "apply event",
        reason: "its event_id was used before",
        context: { sequence: event.sequence, pointer: "/event_id" },
      });
    }
    if (this.#events >= this.#limits.maxEvents) {
      throw new SigError("too_many_events", {
        action: "read feed",
        reason: `it has more than ${this.#limits.maxEvents} events`,
        context: { limit: this.#limits.maxEvents },
      });
    }
  }

  #checkTime(event: SigEvent | UnknownEvent, warn: Warn): void {
    const issuedAt = validInstant(event.issued_at);
    const { now } = this.#options;
    const skew = this.#limits.clockSkewSeconds;
    if (now && compareInstants(issuedAt, addSeconds(now, skew)) > 0) {
      warn(
        "issued_at_future",
        `issued_at is more than ${skew} s ahead of the clock`,
      );
    }
    const latest = this.#latest;
    if (
      latest && compareInstants(issuedAt, addSeconds(latest, -DAY_SECONDS)) < 0
    ) {
      warn(
        "issued_at_back",
        `issued_at is more than a day before ${formatInstant(latest)}`,
      );
    }
    if (!latest || compareInstants(issuedAt, latest) > 0) {
      this.#latest = issuedAt;
    }
    if (!isRevoke(event)) return;
    const effectiveAt = validInstant(event.effective_at);
    if (compareInstants(effectiveAt, addSeconds(issuedAt, skew)) > 0) {
      warn(
        "effective_at_future",
        `effective_at is more than ${skew} s after issued_at`,
      );
    }
  }

  /** Updates a relationship, whose subject was `before`. */
  #relate(
    event: SigEvent | UnknownEvent,
    before: string | undefined,
    warn: Warn,
  ): boolean {
    if (!isUpsert(event) && !isRevoke(event)) {
      warn(
        "unknown_event_ignored",
        "the event's type is not known, it was ignored",
      );
      return false;
    }
    const { relationship_id: id, subject } = event;
    if (before !== undefined && before !== subject) {
      warn("subject_changed", "the subject differs from the relationship's");
    }
    if (isUpsert(event)) {
      this.#subjects.set(id, subject);
      this.#revoked.delete(id);
      return true;
    }
    if (before === undefined) {
      if (!this.#void.has(id)) {
        warn(
          "revoke_without_upsert",
          "the revoke has no earlier upsert, it was ignored",
        );
      }
      return false;
    }
    if (this.#revoked.has(id)) {
      warn("revoked_again", "the relationship was revoked already");
    }
    this.#revoked.add(id);
    return true;
  }
}

/** Creates the error of a revoke without an earlier upsert. */
export function unmatchedRevoke(event: RelationshipRevokeEvent): SigError {
  return new SigError("revoke_without_upsert", {
    action: "apply event",
    reason: "the revoke has no earlier upsert",
    context: { sequence: event.sequence, pointer: "/relationship_id" },
  });
}
