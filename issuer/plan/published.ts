/** What a feed says of each relationship, with all that people see. @module */

import {
  isRevoke,
  isUpsert,
  type ReasonCode,
  type RelationshipRevokeEvent,
  type RelationshipUpsertEvent,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import { Persons } from "@sig/core/internal";

/** A relationship as the feed left it, with its display and metadata. */
export interface PublishedRelationship {
  /** The event that said so last; an upsert replaces everything before it. */
  readonly upsert: RelationshipUpsertEvent;
  /** `active` or `revoked`; validity is not looked at. */
  readonly status: "active" | "revoked";
  /** The revoke, if it is revoked. */
  readonly revoke?: RelationshipRevokeEvent;
  /** Sequence of its last event, upsert or revoke. */
  readonly last_sequence: number;
  /** The `event_id` of its first upsert. */
  readonly first_event_id: string;
}

/** An issuer's feed, as what is planned is compared with it. */
export interface PublishedState {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the feed's last event; 0 for an empty feed. */
  readonly last_sequence: number;
  /** SHA-256 of the feed's bytes, hexadecimal. */
  readonly feed_sha256: string;
  /** Every relationship that the feed knows, by its identifier. */
  readonly relationships: ReadonlyMap<string, PublishedRelationship>;
  /**
   * The root of a subject's person (docs/protocol.md §4.1); (default: each
   * subject is a person).
   */
  readonly personOf?: (subject: string) => string;
  /**
   * Whether the next upsert about a subject can link it to another one
   * (docs/protocol.md §4.1); (default: none is ignored).
   */
  readonly canLink?: (subject: string, named: string) => boolean;
}

/** {@linkcode PublishedState.personOf}, also where it is not given. */
export function personIn(
  { personOf = (subject) => subject }: PublishedState,
  subject: string,
): string {
  return personOf(subject);
}

/**
 * The active relationships of a person, of that type (default: of any), in the
 * order of the feed.
 */
export function activeOfPerson(
  state: PublishedState,
  subject: string,
  type?: string,
): readonly PublishedRelationship[] {
  const person = personIn(state, subject);
  return [...state.relationships.values()].filter(({ status, upsert }) =>
    status === "active" && personIn(state, upsert.subject) === person &&
    (type ?? upsert.relationship_type) === upsert.relationship_type
  );
}

/**
 * Collects {@linkcode PublishedState.relationships} from verified events in the
 * order of the feed. The state of docs/protocol.md §4 has these fields only; who
 * changes a role must keep title, department and metadata too.
 */
export class PublishedRelationships {
  readonly #byId = new Map<string, PublishedRelationship>();
  readonly #subjects = new Set<string>();
  /** Which subjects are keys of one person. */
  readonly persons = new Persons();

  /** By identifier, in the order of their first event. */
  get byId(): ReadonlyMap<string, PublishedRelationship> {
    return this.#byId;
  }

  /** Whether the next upsert about a subject can link it to another one. */
  canLink(subject: string, named: string): boolean {
    return !this.#subjects.has(subject) && this.persons.canLink(subject, named);
  }

  /** Adds the next event; a revoke of nothing and unknown types say nothing. */
  add(event: SigEvent | UnknownEvent): void {
    const { relationship_id: id, sequence: last_sequence } = event;
    const before = this.#byId.get(id);
    if (isUpsert(event)) {
      if (!this.#subjects.has(event.subject)) this.persons.add(event);
      this.#subjects.add(event.subject);
      this.#byId.set(id, {
        upsert: event,
        status: "active",
        last_sequence,
        first_event_id: before?.first_event_id ?? event.event_id,
      });
    } else if (isRevoke(event)) {
      if (before === undefined) return;
      this.#byId.set(id, {
        ...before,
        status: "revoked",
        revoke: event,
        last_sequence,
      });
    }
  }
}

/** How a relationship ended. */
export interface EndedRelationship {
  /** Which one. */
  readonly relationship_id: string;
  /** Sequence of the revoke. */
  readonly sequence: number;
  /** Why. */
  readonly reason_code: ReasonCode;
  /** Since when. */
  readonly effective_at: string;
}

/** Finds the ending that an upsert would undo. */
export type FindEnding = (
  subject: string,
  type: string,
  id?: string | null,
) => EndedRelationship | undefined;

/**
 * Finds the endings that upserts undo: the last event of the relationship, or of
 * its person and type, is a revoke other than `superseded`. An upsert of an
 * active relationship undoes none.
 */
export function endingsIn(state: PublishedState): FindEnding {
  /** Who was offboarded does not come back by another key. */
  const personKey = (subject: string, type: string) =>
    keyOf(personIn(state, subject), type);
  /** The one with the last event, by type and person. */
  const last = new Map<string, PublishedRelationship>();
  for (const each of state.relationships.values()) {
    const { relationship_type: type, subject } = each.upsert;
    const key = personKey(subject, type);
    const before = last.get(key)?.last_sequence ?? 0;
    if (each.last_sequence > before) last.set(key, each);
  }
  return (subject, type, id) => {
    const own = state.relationships.get(id ?? "");
    if (own?.status === "active" && own.upsert.relationship_type === type) {
      return undefined;
    }
    for (const each of [own, last.get(personKey(subject, type))]) {
      const { revoke } = each ?? {};
      if (revoke === undefined || revoke.reason_code === "superseded") continue;
      const { relationship_id, sequence, reason_code, effective_at } = revoke;
      return { relationship_id, sequence, reason_code, effective_at };
    }
    return undefined;
  };
}

/** A key for a subject and a type; a type has no space. */
export function keyOf(subject: string, type: string): string {
  return `${type} ${subject}`;
}
