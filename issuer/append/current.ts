/** Reads the current state of one relationship or one subject. @module */

import {
  isRevoke,
  isUpsert,
  parseEventPayload,
  type RelationshipRevokeEvent,
  type RelationshipUpsertEvent,
  type SigEvent,
} from "@sig/core";
import { isVoidEvent } from "@sig/jose/keys";
import type { EventIndex } from "../index/feed_index.ts";
import {
  type IndexedRelationship,
  IndexError,
  type LinePlace,
} from "../index/index_file.ts";
import { linesIn } from "../store/feed_lines.ts";
import type { OpenFeed } from "../store/feed_store.ts";
import type { LineRules } from "../documents/documents.ts";

/** Selects relationships: those that match either member. */
export interface CurrentQuestion {
  /** Identifier of a relationship. */
  readonly relationship_id?: string | undefined;
  /** A subject; selects its active relationships. */
  readonly subject?: string | undefined;
  /** Maximum of the subject's, latest events first (default: all). */
  readonly most?: number | undefined;
  /** Also return the upserts in the feed's last bytes (default: 0). */
  readonly recentBytes?: number | undefined;
}

/** A relationship after its last event. */
export interface CurrentRelationship {
  /** Identifier of the relationship. */
  readonly relationship_id: string;
  /** The subject that its last upsert names. */
  readonly subject: string;
  /** The event that published it; null if it is revoked. */
  readonly upsert: RelationshipUpsertEvent | null;
  /** Sequence of its last event. */
  readonly last_sequence: number;
}

/** The relationships found, and the end of the feed that was read. */
export interface CurrentRelationships {
  /** Sequence of the feed's last event. */
  readonly last_sequence: number;
  /** The relationships, in the order of their last events. */
  readonly relationships: readonly CurrentRelationship[];
  /** The upserts within `recentBytes`, whose lines were verified before. */
  readonly recent: readonly RelationshipUpsertEvent[];
  /** The last revocation of a subject without an active relationship. */
  readonly ended?: RelationshipRevokeEvent;
}

/** More than the number of events of any feed. */
const MANY = 2 ** 40;

/**
 * Queries the index and reads the lines that it points to. The cost depends on
 * the number of relationships found, not on the length of the feed.
 *
 * @throws {IndexError} if a line contradicts the index.
 */
export async function readCurrent(
  { relationship_id: id, subject, most = MANY, recentBytes = 0 }:
    CurrentQuestion,
  feed: OpenFeed,
  index: EventIndex,
  rules: LineRules,
): Promise<CurrentRelationships> {
  const found = new Map<string, IndexedRelationship>();
  const named = id === undefined ? undefined : index.relationship(id);
  const one = named?.isVoid ? undefined : named;
  const several = subject === undefined ? [] : index.activeOf(subject, most);
  for (const each of one === undefined ? several : [one, ...several]) {
    found.set(each.relationship_id, each);
  }
  const relationships: CurrentRelationship[] = [];
  for (const each of found.values()) {
    const { relationship_id, subject, last_sequence } = each;
    const event = await readLastEvent(each, feed, rules);
    const upsert = isUpsert(event) ? event : null;
    relationships.push({ relationship_id, subject, upsert, last_sequence });
  }
  relationships.sort((a, b) => a.last_sequence - b.last_sequence);
  const revoked = subject === undefined || several.length > 0
    ? undefined
    : index.lastRevokedOf(subject);
  const ended = revoked && await readLastEvent(revoked, feed, rules);
  const { bytes, sequence: last_sequence } = index.head!;
  const from = Math.max(0, bytes - recentBytes);
  const recent = from === bytes
    ? []
    : [...readRecent(await feed.read(from, bytes - from), rules)];
  return {
    last_sequence,
    relationships,
    recent,
    ...(ended && isRevoke(ended) ? { ended } : {}),
  };
}

/** Yields the upserts in the complete lines of the feed's last bytes. */
function* readRecent(
  bytes: Uint8Array,
  { parseLine }: LineRules,
): Generator<RelationshipUpsertEvent> {
  for (const line of linesIn(bytes)) {
    try {
      const event = parseEventPayload(parseLine(line).payload);
      if (isUpsert(event)) yield event;
    } catch {
      // The first line may be truncated.
    }
  }
}

/**
 * Reads the event at a position of the feed, and whether it is void. It was
 * verified when it was added to the index. Returns undefined if there is no
 * event.
 */
export async function readEventAt(
  { bytes, offset }: LinePlace,
  feed: OpenFeed,
  { keys, parseLine }: LineRules,
): Promise<
  { readonly event: SigEvent; readonly isVoid: boolean } | undefined
> {
  if (offset < 0 || bytes < 1 || offset + bytes >= feed.size) return undefined;
  const line = await feed.read(offset, bytes);
  try {
    const { header, payload } = parseLine(line);
    const event = parseEventPayload(payload) as SigEvent;
    return { event, isVoid: isVoidEvent(keys, header.kid, event.sequence) };
  } catch {
    return undefined;
  }
}

/**
 * Reads the last event of an indexed relationship. A wrong index can therefore
 * not invent an event; it can only hide a later one.
 *
 * @throws {IndexError} if the line contradicts the index.
 */
export async function readLastEvent(
  found: IndexedRelationship,
  feed: OpenFeed,
  rules: LineRules,
): Promise<SigEvent> {
  const event = (await readEventAt(found, feed, rules))?.event;
  const isRevoked = event?.event_type === "relationship.revoke";
  if (
    event?.relationship_id === found.relationship_id &&
    event.sequence === found.last_sequence &&
    isRevoked === (found.revoked && !found.isVoid) &&
    (isRevoked || event.subject === found.subject)
  ) return event;
  throw new IndexError("Cannot find a relationship in its place");
}
