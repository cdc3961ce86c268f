/** What a running consumer knows of one issuer. @module */

import { type Continuity, isSigError, type Warning } from "@sig/core";
import type { KeyResolver } from "@sig/jose";
import type { HeldDocuments } from "../read/conditional_reader.ts";
import type { FeedDigest } from "../verify/feed_digest.ts";
import type { FeedVerification } from "../verify/feed_verification.ts";
import { type IssuerPin, namePinnedKeys } from "../pins/issuer_pin.ts";
import type { SignatureMarks } from "../verify/signature_marks.ts";
import type { FeedGrowth } from "../pins/feed_growth.ts";
import type { StoredState } from "../pins/stored_state.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";

/** A feed that was verified here, from its first byte to its last. */
export interface HeldFeed {
  /** Goes on where the feed ends. */
  readonly verification: FeedVerification;
  /** Goes on as well; undefined where that would mean to keep the feed. */
  readonly digest: FeedDigest | undefined;
  /** A few bytes of every signature; of a remembered feed, of the new ones. */
  readonly marks: SignatureMarks;
  /** Of a remembered feed: reads what new lines rest upon. */
  readonly growth?: FeedGrowth;
  /** The feed's last bytes: a tail must begin with them. */
  readonly overlap: Uint8Array;
  /** Where it was got from. */
  readonly ref: string;
  /** The rule that its events were judged by. */
  readonly publicOnly: boolean;
  /** What was odd about how it is served. */
  readonly warnings: readonly Warning[];
  /** When it was last compared from its first byte on. */
  readonly comparedAt: Date;
}

/** An issuer as it was at one time. */
export interface Observation {
  /** Everything that was verified. */
  readonly verified: VerifiedIssuer;
  /** When fetching it began. */
  readonly observedAt: Date;
  /** The same as text, made once for many answers. */
  readonly observedAtText: string;
  /** How it relates to what this process had seen before. */
  readonly continuity: Continuity;
  /**
   * Where the state is, when a store has it; that of `verified` is then of no
   * use.
   */
  readonly stored?: StoredState;
}

/** What a refresh found, when all of it was in order. */
export interface Refreshed {
  /** To be answered from. */
  readonly observation: Observation;
  /** To compare later fetches with. */
  readonly pin: IssuerPin;
  /** The same in a bounded size, for when the state goes. */
  readonly reduced: IssuerPin;
  /** Its keys, which need not be imported again. */
  readonly keys?: KeyResolver;
  /** To go on from; undefined once nothing can. */
  readonly feed: HeldFeed | undefined;
  /**
   * A few bytes of every signature, to tell where another history parts from
   * this one, also when nothing can go on from it.
   */
  readonly allMarks: () => Promise<SignatureMarks>;
  /** To ask conditionally with. */
  readonly documents: HeldDocuments;
}

/** What outlives an issuer's state when there are too many of them. */
export interface PinnedIssuer {
  /** The pin, reduced. */
  readonly pin: IssuerPin;
  /** As {@linkcode IssuerRecord.inconsistency}. */
  readonly inconsistency: string | undefined;
  /** As {@linkcode IssuerRecord.keysRefetchedAt}. */
  readonly keysRefetchedAt: Date | undefined;
}

/**
 * What is known, as a value: each refresh gives its owner the next one. It
 * grows by refreshes that were verified as a whole, and by nothing else: what
 * was fetched and is faulty, or contradicts the pin, only takes away the right
 * to answer from the older state.
 */
export interface IssuerRecord {
  /** What later fetches are compared with. */
  readonly pin: IssuerPin | undefined;
  /** What the last refresh in order found; undefined when only a pin is left. */
  readonly held: Refreshed | undefined;
  /** What is left when the state goes. */
  readonly pinned: PinnedIssuer | undefined;
  /**
   * Something worse was seen since. Then nothing is answered, and no request is
   * conditional: everything is fetched, so that no fault can hide.
   */
  readonly isSuspended: boolean;
  /** Code of the last contradiction in this process. */
  readonly inconsistency: string | undefined;
  /** When keys were last fetched twice in one refresh (SECURITY F5). */
  readonly keysRefetchedAt: Date | undefined;
}

/** Codes of what contradicts a pin (PROTOCOL §6). */
export const CONTRADICTIONS: ReadonlySet<string> = new Set([
  "feed_rolled_back",
  "key_replaced",
  "key_withdrawn",
  "feed_rewritten",
]);

/** The record of an issuer of which nothing, or the pin alone, is left. */
export function recordOf(pinned?: PinnedIssuer): IssuerRecord {
  return {
    pin: pinned?.pin,
    held: undefined,
    pinned,
    isSuspended: false,
    inconsistency: pinned?.inconsistency,
    keysRefetchedAt: pinned?.keysRefetchedAt,
  };
}

/** The latest observation, unless something worse was seen since. */
export function answerable(record: IssuerRecord): Observation | undefined {
  return record.isSuspended ? undefined : record.held?.observation;
}

/** Bytes of the feed whose state is held, and of the documents with it. */
export function heldBytes({ held }: IssuerRecord): number {
  if (held === undefined) return 0;
  let bytes = held.pin.bytes;
  for (const document of held.documents.values()) {
    bytes += document.bytes.length;
  }
  return bytes;
}

/** Where the reduced pin is all there is, its keys get their names. */
export async function nameKeys(
  record: IssuerRecord,
  published: Iterable<string>,
): Promise<IssuerRecord> {
  const { pin, pinned } = record;
  if (pin === undefined || pin !== pinned?.pin) return record;
  return { ...record, pin: await namePinnedKeys(pin, published) };
}

/** Keys were fetched a second time. */
export function noteRefetch(record: IssuerRecord, at: Date): IssuerRecord {
  const { pinned } = record;
  return {
    ...record,
    keysRefetchedAt: at,
    pinned: pinned && { ...pinned, keysRefetchedAt: at },
  };
}

/** The record with what a refresh found. */
export function accept(
  { inconsistency, keysRefetchedAt }: IssuerRecord,
  refreshed: Refreshed,
): IssuerRecord {
  return {
    pin: refreshed.pin,
    held: refreshed,
    pinned: { pin: refreshed.reduced, inconsistency, keysRefetchedAt },
    isSuspended: false,
    inconsistency,
    keysRefetchedAt,
  };
}

/**
 * The record after a refresh that failed. An issuer that can't be reached
 * leaves the state as good as it was, unless it was seen to serve another feed
 * before the connection broke (`sawDifference`).
 */
export function fail(
  record: IssuerRecord,
  error: unknown,
  sawDifference: boolean,
): IssuerRecord {
  const { pin, held, pinned } = record;
  const isUnavailable = isSigError(error) && error.category === "unavailable";
  const inconsistency = isSigError(error) && CONTRADICTIONS.has(error.code)
    ? error.code
    : record.inconsistency;
  // It may have gone on before the failure: then nothing can go on from it.
  const { isIntact, events } = held?.feed?.verification ?? {};
  const isWhole = isIntact && events === pin?.sequence;
  return {
    ...record,
    held: held === undefined || isWhole ? held : { ...held, feed: undefined },
    pinned: pinned && { ...pinned, inconsistency },
    isSuspended: record.isSuspended || !isUnavailable || sawDifference,
    inconsistency,
  };
}
