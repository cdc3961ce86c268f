/** The published relationships of a feed. @module */

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
import { People } from "../people/people.ts";
import type { PersonKey } from "../people/people_file.ts";

/** A relationship after the feed's last event. */
export interface PublishedRelationship {
  /** Its last upsert, which replaces everything before it. */
  readonly upsert: RelationshipUpsertEvent;
  /** `active` or `revoked`, whatever the validity. */
  readonly status: "active" | "revoked";
  /** The revocation, if it is revoked. */
  readonly revoke?: RelationshipRevokeEvent;
  /** Sequence of its last event, upsert or revoke. */
  readonly last_sequence: number;
  /** The `event_id` of its first upsert. */
  readonly first_event_id: string;
}

/** The state of an issuer's feed, as needed for planning. */
export interface PublishedState {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the feed's last event; 0 for an empty feed. */
  readonly last_sequence: number;
  /** SHA-256 of the feed's bytes, hexadecimal. */
  readonly feed_sha256: string;
  /** Every relationship of the feed, by its identifier. */
  readonly relationships: ReadonlyMap<string, PublishedRelationship>;
  /**
   * Returns the root of a subject's person (docs/protocol.md §4.1) (default:
   * each subject is a person).
   */
  readonly personOf?: (subject: string) => string;
  /**
   * Returns whether the next upsert of a subject can link it to another one
   * (docs/protocol.md §4.1) (default: always).
   */
  readonly canLink?: (subject: string, named: string) => boolean;
  /** The people file, joined with the links of the feed (default: none). */
  readonly people?: People;
}

/** Returns the state together with the keys of a people file. */
export function withPeople(
  state: PublishedState,
  keys: Iterable<PersonKey>,
): PublishedState {
  return { ...state, people: new People(keys, state.personOf) };
}

/** Returns a text that is equal for all keys of a person. */
export function personIn(state: PublishedState, subject: string): string {
  return state.people?.keyOf(subject) ?? rootIn(state, subject);
}

/** Returns the root of a key in the feed, or the key itself. */
export function rootIn(
  { personOf = (subject) => subject }: PublishedState,
  subject: string,
): string {
  return personOf(subject);
}

/**
 * Returns the active relationships of a person, of that type (default: all
 * types), in the order of the feed.
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
 * Collects a {@linkcode PublishedState} from verified events in the order of
 * the feed. The state of docs/protocol.md §4 lacks title, department and
 * metadata, which an upsert that changes a role must repeat.
 */
export class PublishedRelationships {
  readonly #byId = new Map<string, PublishedRelationship>();
  readonly #subjects = new Set<string>();
  readonly #persons = new Persons();

  /** Returns the state of the feed whose events were added. */
  state(
    feed: Pick<PublishedState, "issuer" | "last_sequence" | "feed_sha256">,
  ): PublishedState {
    return {
      ...feed,
      relationships: this.#byId,
      personOf: (subject) => this.#persons.rootOf(subject),
      canLink: (subject, named) =>
        !this.#subjects.has(subject) && this.#persons.canLink(subject, named),
    };
  }

  /** Adds the next event, unless its type or relationship is unknown. */
  add(event: SigEvent | UnknownEvent): void {
    const { relationship_id: id, sequence: last_sequence } = event;
    const before = this.#byId.get(id);
    if (isUpsert(event)) {
      if (!this.#subjects.has(event.subject)) this.#persons.add(event);
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

/** The revocation of a relationship. */
export interface EndedRelationship {
  /** Identifier of the relationship. */
  readonly relationship_id: string;
  /** Sequence of the revocation. */
  readonly sequence: number;
  /** The reason code. */
  readonly reason_code: ReasonCode;
  /** When it took effect. */
  readonly effective_at: string;
}

/** Finds the revocation that an upsert would undo. */
export type FindEnding = (
  subject: string,
  type: string,
  id?: string | null,
) => EndedRelationship | undefined;

/**
 * Finds the revocations that upserts would undo: the last event of the
 * relationship, or of its person and type, is a revocation other than
 * `superseded`. An upsert of an active relationship undoes nothing.
 */
export function endingsIn(state: PublishedState): FindEnding {
  /** A person who was offboarded is recognised under another key, too. */
  const personKey = (subject: string, type: string) =>
    keyOf(personIn(state, subject), type);
  /** The relationship with the last event, by type and person. */
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

/** Returns a map key for a subject and a type; a type contains no space. */
export function keyOf(subject: string, type: string): string {
  return `${type} ${subject}`;
}
