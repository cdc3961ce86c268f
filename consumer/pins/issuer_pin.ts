/** What a consumer compares later fetches with: a pin (PROTOCOL §6). @module */

import { encodeHex } from "@std/encoding/hex";
import { formatInstant, instantOf } from "@sig/core";
import { calculateKidOf, type KeyResolver } from "@sig/jose";
import type { FeedVerification } from "../verify/feed_verification.ts";

/**
 * Enough to tell whether a feed that comes later goes on from the one that was
 * verified. JSON-safe, since a pin may be kept in a file.
 */
export interface IssuerPin {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event. */
  readonly sequence: number;
  /** Bytes of the feed. */
  readonly bytes: number;
  /** SHA-256 of these bytes, hexadecimal. */
  readonly prefix_sha256: string;
  /** The last event's `event_id`, null for an empty feed. */
  readonly last_event_id: string | null;
  /** RFC 7638 thumbprints of the keys that signed, by kid. */
  readonly keys: { readonly [kid: string]: string };
  /** The feed's entity tag, if it has one. */
  readonly etag: string | null;
  /** When the issuer was first verified. */
  readonly first_seen: string;
  /** When it was last verified. */
  readonly last_seen: string;
}

/** What a verified feed adds to the pin. */
export interface Pinnable {
  /** The verified feed. */
  readonly verification: FeedVerification;
  /** The keys that it was verified with. */
  readonly keys: KeyResolver;
  /** SHA-256 of all its bytes. */
  readonly sha256: string;
  /** Its entity tag. */
  readonly etag: string | null;
  /** When. */
  readonly at: Date;
}

/** The pin after a feed that was verified and contradicts nothing. */
export async function makePin(
  { verification, keys, sha256, etag, at }: Pinnable,
  before: IssuerPin | undefined,
): Promise<IssuerPin> {
  const { state, bytes } = verification.result();
  const thumbprints: [string, string][] = [];
  for (const kid of verification.kids) {
    thumbprints.push([kid, await calculateKidOf(keys.resolve(kid))]);
  }
  const now = formatInstant(instantOf(at));
  return {
    issuer: state.issuer,
    sequence: state.last_sequence,
    bytes,
    prefix_sha256: sha256,
    last_event_id: verification.lastEventId,
    // An own member even where the kid is "__proto__".
    keys: Object.fromEntries(thumbprints),
    etag,
    first_seen: before?.first_seen ?? now,
    last_seen: now,
  };
}

/** Keys that a {@linkcode reducePin}d pin names; those that came last. */
const MAX_REDUCED_KEYS = 8;

/** Before the digest of a kid that is longer than this and a digest. */
const DIGEST_PREFIX = "sha256:";

/** Longer kids are replaced by their digest, which is as long. */
const MAX_REDUCED_KID = DIGEST_PREFIX.length + 64;

/**
 * The pin in a size that no issuer can choose: about 1 KiB at most. An
 * `event_id` can be as long as a line, 256 kids 256 characters each; whoever may
 * name any issuer could fill the memory with those.
 *
 * Nothing is accepted for that: the feed is verified from its first byte when a
 * reduced pin is all there is, and its bytes must be the remembered ones, so
 * a key that is missing here and was replaced is a signature that fails.
 */
export async function reducePin(pin: IssuerPin): Promise<IssuerPin> {
  const keys: [string, string][] = [];
  for (
    const [kid, key] of Object.entries(pin.keys).slice(-MAX_REDUCED_KEYS)
  ) {
    keys.push([await reducedKid(kid), key]);
  }
  return {
    ...pin,
    last_event_id: null,
    keys: Object.fromEntries(keys),
    etag: null,
  };
}

/** A {@linkcode reducePin}d pin with the kids that are published, by name. */
export async function namePinnedKeys(
  pin: IssuerPin,
  published: Iterable<string>,
): Promise<IssuerPin> {
  const names = new Map<string, string>();
  for (const kid of published) names.set(await reducedKid(kid), kid);
  const keys = Object.entries(pin.keys)
    .map(([kid, key]) => [names.get(kid) ?? kid, key] as const);
  return { ...pin, keys: Object.fromEntries(keys) };
}

async function reducedKid(kid: string): Promise<string> {
  if (kid.length <= MAX_REDUCED_KID) return kid;
  const bytes = new TextEncoder().encode(kid);
  return DIGEST_PREFIX +
    encodeHex(await crypto.subtle.digest("SHA-256", bytes));
}
