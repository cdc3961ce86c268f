/**
 * What is remembered of an issuer, as one of four states (docs/protocol.md §6).
 * `transitions.ts` has every way from one state to another.
 *
 * @module
 */

import { encodeHex } from "@std/encoding/hex";

/** The RFC 7638 thumbprints of keys, by kid. */
export type Thumbprints = { readonly [kid: string]: string };

/** A history that was seen, identified by its root (docs/protocol.md §13.4). */
export interface Seen {
  /** Number of events. */
  readonly size: number;
  /**
   * The RFC 6962 root of their lines, base64; null in a pin of an earlier
   * version, which counted the events only.
   */
  readonly root: string | null;
}

/** The feed as it was last verified. */
export interface PinnedFeed {
  /** Sequence of the last event. */
  readonly sequence: number;
  /** Size of the feed in bytes. */
  readonly bytes: number;
  /** SHA-256 of the feed, hexadecimal. */
  readonly prefix_sha256: string;
  /** The last event's `event_id`; null if there is none or it is too long. */
  readonly last_event_id: string | null;
  /** The keys that signed events. */
  readonly keys: Thumbprints;
  /** The feed's entity tag; null if it has none. */
  readonly etag: string | null;
  /** When the feed was last compared from its first byte (RFC 3339). */
  readonly compared_at: string;
  /** When the feed was last read (RFC 3339). */
  readonly read_at: string;
}

/** The last checkpoint that was used or confirmed, and what was seen since. */
export interface PinnedProof {
  /** Number of events in the checkpoint. */
  readonly size: number;
  /** The root hash of its event tree, base64. */
  readonly root: string;
  /** The root hash of its state tree, base64. */
  readonly state: string;
  /** The longest history of an answer or a full read. */
  readonly seen: Seen;
  /** The keys that may sign events. */
  readonly keys: Thumbprints;
}

/** The remembered recovery key of an issuer, and the number of its statements. */
export interface PinnedRecovery {
  /** The commitment to the first recovery key, base64url. */
  readonly commitment: string;
  /** Number of statements. */
  readonly statements: number;
  /** SHA-256 of the statements' texts joined by LF, hexadecimal. */
  readonly sha256: string;
}

/** A served feed that contradicts the pin. */
export interface SeenFeed {
  /** Number of lines of the feed. */
  readonly sequence: number;
  /** SHA-256 of the feed, hexadecimal. */
  readonly sha256: string;
  /** Digest of the keys that may sign (docs/protocol.md §13.1), base64. */
  readonly keys: string;
  /** As in {@linkcode PinnedRecovery}; null without a recovery key. */
  readonly statements: string | null;
}

/** A served history without its feed that contradicts the pin. */
export interface SeenProof {
  /** Number of events that were seen; null without a checkpoint. */
  readonly size: number | null;
  /** The root of their tree, base64; null without a checkpoint. */
  readonly root: string | null;
  /**
   * The root hash of the state tree, base64; null without a checkpoint, or if
   * events after the checkpoint were seen too.
   */
  readonly state: string | null;
  /** As in {@linkcode SeenFeed}. */
  readonly keys: string;
  /** As in {@linkcode SeenFeed}. */
  readonly statements: string | null;
}

/** What an issuer served when it contradicted its pin. */
export type Served = SeenFeed | SeenProof;

/** An unresolved contradiction. */
export interface PinIncident {
  /** The error code, see docs/protocol.md §6.2. */
  readonly code: string;
  /** When it was first seen (RFC 3339). */
  readonly since: string;
  /** A description with old and new value. */
  readonly detail: string;
  /** What was served first; null if it was not read to its end. */
  readonly seen: Served | null;
}

/** The acceptance of a different history. */
export interface PinAcknowledgement {
  /** When it was accepted (RFC 3339). */
  readonly at: string;
  /** The reason, as written by the operator. */
  readonly reason: string;
  /** The code of the contradiction before; null if there was none. */
  readonly code: string | null;
}

/** A key that first signed while no proof was remembered. */
export interface KeyAdded {
  /** The key. */
  readonly kid: string;
  /** When its events were first read (RFC 3339). */
  readonly at: string;
}

/** What every known pin has. */
interface PinBase {
  /** The issuer's DID. */
  readonly issuer: string;
  /** When the issuer was first seen (RFC 3339). */
  readonly first_seen: string;
  /** When the issuer was last seen (RFC 3339). */
  readonly last_seen: string;
  /** Null if only proofs were read. */
  readonly feed: PinnedFeed | null;
  /** Null if no proof was used or confirmed. */
  readonly proof: PinnedProof | null;
  /** Null if the issuer has published no recovery key. */
  readonly recovery: PinnedRecovery | null;
  /** Keys that first signed while no proof was remembered. */
  readonly key_added: readonly KeyAdded[];
  /**
   * The code of the last contradiction that was not acknowledged, ended or not:
   * every answer then has the warning `history_was_inconsistent`.
   */
  readonly inconsistency: string | null;
  /** Acceptances of different histories. */
  readonly acknowledged: readonly PinAcknowledgement[];
  /** Number of accepted histories that changed events. */
  readonly rewrites: number;
  /** The first changed sequence of each of the latest of them. */
  readonly rewritten_from: readonly number[];
}

/** A pin without a fault. */
export type RememberedPin = PinBase & { readonly status: "remembered" };

/** After a fault of the documents or the feed, until a feed continues it. */
export type FaultyPin = PinBase & { readonly status: "faulty" };

/** After a contradiction, until a feed continues it or `sig pin ack`. */
export type ContradictedPin = PinBase & {
  readonly status: "contradicted";
  readonly incident: PinIncident;
};

/** A pin of an issuer that was seen. */
export type KnownPin = RememberedPin | FaultyPin | ContradictedPin;

/** What is remembered of an issuer. */
export type Pin = { readonly status: "unknown" } | KnownPin;

/** The pin of an issuer that was never seen, or was removed. */
export const UNKNOWN: Pin = Object.freeze({ status: "unknown" });

/** Returns the number of events that are remembered. */
export function eventsSeen({ feed, proof }: KnownPin): number {
  return Math.max(feed?.sequence ?? 0, proof?.seen.size ?? 0);
}

/** Returns the SHA-256 of a text or of bytes, hexadecimal. */
export async function sha256Hex(
  data: string | Uint8Array<ArrayBuffer>,
): Promise<string> {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  return encodeHex(await crypto.subtle.digest("SHA-256", bytes));
}

/** Maximum size of `event_id` and entity tag in a pin, in bytes of JSON. */
const MAX_TEXT_BYTES = 512;

/** Returns an issuer's text, or null if it is too long for a pin. */
export function shortOrNull(text: string | null): string | null {
  return text === null || sizeInJson(text) > MAX_TEXT_BYTES ? null : text;
}

/** Returns the beginning of a text that takes at most that many bytes. */
export function beginningOf(text: string, maxBytes: number): string {
  let end = Math.min(text.length, maxBytes);
  while (sizeInJson(text.slice(0, end)) > maxBytes) {
    end -= Math.max(1, Math.floor(end / 16));
  }
  return text.slice(0, end);
}

/** Returns the size of a value in JSON, in bytes without the outer marks. */
export function sizeInJson(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length - 2;
}

const DIGEST_PREFIX = "sha256:";

/** Longer kids are stored as digests, so that any pin fits into a record. */
const MAX_KID_BYTES = 64 + DIGEST_PREFIX.length;

/** Returns a kid as it is stored: a long one as its digest. */
export async function storedKid(kid: string): Promise<string> {
  return sizeInJson(kid) <= MAX_KID_BYTES
    ? kid
    : DIGEST_PREFIX + await sha256Hex(kid);
}

/** Returns keys for storage, with long kids as digests. */
export async function shortenKids(
  keys: Iterable<readonly [kid: string, thumbprint: string]>,
): Promise<Thumbprints> {
  const stored: [string, string][] = [];
  for (const [kid, key] of keys) stored.push([await storedKid(kid), key]);
  // Creates an own property even for the kid "__proto__".
  return Object.fromEntries(stored);
}

/** Returns a pin with digests of published kids replaced by the kids. */
export async function nameKids<P extends KnownPin>(
  pin: P,
  published: Iterable<string>,
): Promise<P> {
  const names = new Map<string, string>();
  for (const kid of published) {
    const stored = await storedKid(kid);
    if (stored !== kid) names.set(stored, kid);
  }
  if (names.size === 0) return pin;
  const named = (keys: Thumbprints): Thumbprints =>
    Object.fromEntries(
      Object.entries(keys).map(([kid, key]) => [names.get(kid) ?? kid, key]),
    );
  const { feed, proof } = pin;
  return {
    ...pin,
    feed: feed && { ...feed, keys: named(feed.keys) },
    proof: proof && { ...proof, keys: named(proof.keys) },
  };
}
