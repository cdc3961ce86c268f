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
import { encodeHex } from "@std/encoding/hex";
import type { FeedSession } from "../append/feed_session.ts";
import { replayFeed } from "../append/verify_feed.ts";
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
  /** Sequence of the upsert since which it is or was active. */
  readonly active_since: number;
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

/** A revocation, with what the relationship was. */
export interface Ending extends EndedRelationship {
  /** The key. */
  readonly subject: string;
  /** The type at that time. */
  readonly type: string;
}

/** What a plan needs of earlier events. */
export interface PublishedHistory {
  /** Every revocation, in the order of the feed. */
  readonly endings: readonly Ending[];
  /** The first upsert of each subject. */
  readonly firsts: ReadonlyMap<
    string,
    Pick<RelationshipUpsertEvent, "sequence" | "issued_at">
  >;
  /** Every role that an event has had. */
  readonly roles: ReadonlySet<string>;
  /** The relationship of each event, by `event_id`. */
  readonly events: ReadonlyMap<string, string>;
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
  /** Returns the root of a subject's person (docs/protocol.md §4.1). */
  readonly personOf: (subject: string) => string;
  /**
   * Returns whether the next upsert of a subject can link it to another one
   * (docs/protocol.md §4.1).
   */
  readonly canLink: (subject: string, named: string) => boolean;
  /** The people by the links of the feed, and by a people file if joined. */
  readonly people: People;
  /** Earlier events. */
  readonly history: PublishedHistory;
}

/**
 * Joins keys of a people file or of a list, and the links of drafts, with the
 * people of a state, so that everything judges the same people. A name that is
 * known already stays.
 *
 * @param links The root that each linked key names (default: none).
 */
export function joinPeople(
  state: PublishedState,
  keys: Iterable<PersonKey>,
  links: ReadonlyMap<string, string> = new Map(),
): PublishedState {
  const all = new Map(state.people.keys);
  for (const key of keys) {
    const known = all.get(key.subject);
    all.set(key.subject, {
      ...key,
      ...known,
      person: key.person ?? known?.person,
      name: known?.name ?? key.name,
    });
  }
  const people = new People(
    all.values(),
    (subject) => state.personOf(links.get(subject) ?? subject),
  );
  return { ...state, people };
}

/**
 * Collects a {@linkcode PublishedState} from verified events in the order of
 * the feed. The state of docs/protocol.md §4 lacks title, department and
 * metadata, which an upsert that changes a role must repeat.
 */
export class PublishedRelationships {
  readonly #byId = new Map<string, PublishedRelationship>();
  readonly #endings: Ending[] = [];
  readonly #firsts = new Map<string, RelationshipUpsertEvent>();
  readonly #roles = new Set<string>();
  readonly #events = new Map<string, string>();
  readonly #persons = new Persons();

  /** Returns the state of the feed whose events were added. */
  state(
    feed: Pick<PublishedState, "issuer" | "last_sequence" | "feed_sha256">,
  ): PublishedState {
    const personOf = (subject: string) => this.#persons.rootOf(subject);
    return {
      ...feed,
      relationships: this.#byId,
      personOf,
      people: new People([], personOf),
      canLink: (subject, named) =>
        !this.#firsts.has(subject) && this.#persons.canLink(subject, named),
      history: {
        endings: this.#endings,
        firsts: this.#firsts,
        roles: this.#roles,
        events: this.#events,
      },
    };
  }

  /** Adds the next event, unless its type or relationship is unknown. */
  add(event: SigEvent | UnknownEvent): void {
    const { relationship_id: id, sequence: last_sequence } = event;
    const before = this.#byId.get(id);
    this.#events.set(event.event_id, id);
    if (isUpsert(event)) {
      if (!this.#firsts.has(event.subject)) {
        this.#persons.add(event);
        this.#firsts.set(event.subject, event);
      }
      for (const role of event.roles) this.#roles.add(role);
      this.#byId.set(id, {
        upsert: event,
        status: "active",
        last_sequence,
        first_event_id: before?.first_event_id ?? event.event_id,
        active_since: before?.status === "active"
          ? before.active_since
          : last_sequence,
      });
    } else if (isRevoke(event)) {
      if (before === undefined) return;
      const { relationship_type: type, subject } = before.upsert;
      const { reason_code, effective_at } = event;
      this.#endings.push({
        relationship_id: id,
        sequence: last_sequence,
        reason_code,
        effective_at,
        subject,
        type,
      });
      this.#byId.set(id, {
        ...before,
        status: "revoked",
        revoke: event,
        last_sequence,
      });
    }
  }
}

/** Implements {@linkcode Issuer.published}. */
export async function readPublished(
  session: FeedSession,
): Promise<PublishedState> {
  const { documents, feed } = await session.readFeed();
  const relationships = new PublishedRelationships();
  const { issuer, last_sequence } = await replayFeed(feed, documents, {
    onEvent: (event, isVoid) => {
      if (!isVoid) relationships.add(event);
    },
    keepOnly: null,
  });
  const digest = await crypto.subtle.digest("SHA-256", feed);
  const feed_sha256 = encodeHex(new Uint8Array(digest));
  return relationships.state({ issuer, last_sequence, feed_sha256 });
}

/** Returns a map key for a subject and a type; a type contains no space. */
export function keyOf(subject: string, type: string): string {
  return `${type} ${subject}`;
}
