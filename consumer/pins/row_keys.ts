/** The keys of a state's rows. @module */

import { encodeBase64Url } from "@std/encoding/base64url";
import { encodeHex } from "@std/encoding/hex";
import { TextDigest } from "./text_digest.ts";

/** Warnings, and what came with them. */
export const WARNINGS_KEY = "w";

/** The documents as they were got. */
export const DOCUMENTS_KEY = "d";

/** Before the key of every relationship. */
export const RELATIONSHIP_PREFIX = "r";

/** Before the key of every subject. */
export const SUBJECT_PREFIX = "s";

/** Before the key of every block of events. */
export const BLOCK_PREFIX = "b";

/** Events of one block. */
export const BLOCK_EVENTS = 1_024;

/** The versions of a relationship. */
export function relationshipKey(id: string): string {
  return RELATIONSHIP_PREFIX + keyOf(id);
}

/** The relationships that ever were about a subject. */
export function subjectKey(subject: string): string {
  return SUBJECT_PREFIX + keyOf(subject);
}

/** The block that an event is in. */
export function blockKey(sequence: number): string {
  const block = Math.floor((sequence - 1) / BLOCK_EVENTS);
  // By code units in the order of the feed.
  return BLOCK_PREFIX + String(block).padStart(12, "0");
}

/**
 * Where the digest of an `event_id` is kept, and the digest: 128 bits, so that
 * what an issuer chooses takes the same room, and nobody finds two that agree.
 */
export function eventIdDigest(
  eventId: string,
): { readonly key: string; readonly digest: string } {
  const bytes = digestOf(eventId, ID_DIGEST_BYTES);
  return {
    key: eventIdKey(bytes[0]! << 8 | bytes[1]!),
    digest: encodeBase64Url(bytes.subarray(2)),
  };
}

/** Bytes of SHA-256 that stand for an identifier: 2 that say where, and 128 bits. */
export const ID_DIGEST_BYTES = 18;

/** The key of the row of digests with that number, of 16 bits. */
export function eventIdKey(row: number): string {
  return `e${row.toString(16).padStart(4, "0")}`;
}

/**
 * Short texts of ASCII stand for themselves, others by their digest: no store
 * has to bear long keys, or text that is no Unicode.
 */
function keyOf(text: string): string {
  return /^[\x20-\x7e]{1,200}$/.test(text)
    ? `=${text}`
    : `#${encodeHex(digestOf(text, 32))}`;
}

function digestOf(text: string, bytes: number): Uint8Array {
  const digest = new Uint8Array(bytes);
  new TextDigest().into(digest, text);
  return digest;
}
