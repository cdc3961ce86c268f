/** What a feed says of each relationship today, with all that people see. @module */

import {
  isRevoke,
  isUpsert,
  type RelationshipUpsertEvent,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";

/** A relationship as the feed left it, with its display and metadata. */
export interface PublishedRelationship {
  /** The event that said so last; an upsert replaces everything before it. */
  readonly upsert: RelationshipUpsertEvent;
  /** `active` or `revoked`; validity is not looked at. */
  readonly status: "active" | "revoked";
  /** Sequence of its last event, upsert or revoke. */
  readonly last_sequence: number;
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
}

/**
 * Collects {@linkcode PublishedState.relationships} from verified events in the
 * order of the feed. The state of PROTOCOL §4 has the seed's fields only; who
 * changes a role must keep title, department and metadata too.
 */
export class PublishedRelationships {
  readonly #byId = new Map<string, PublishedRelationship>();

  /** By identifier, in the order of their first event. */
  get byId(): ReadonlyMap<string, PublishedRelationship> {
    return this.#byId;
  }

  /** Adds the next event; a revoke of nothing and unknown types say nothing. */
  add(event: SigEvent | UnknownEvent): void {
    const { relationship_id: id, sequence: last_sequence } = event;
    if (isUpsert(event)) {
      this.#byId.set(id, { upsert: event, status: "active", last_sequence });
    } else if (isRevoke(event)) {
      const before = this.#byId.get(id);
      if (before === undefined) return;
      this.#byId.set(id, { ...before, status: "revoked", last_sequence });
    }
  }
}
