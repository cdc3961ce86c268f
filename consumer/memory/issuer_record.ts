/** What a running consumer knows of one issuer. @module */

import {
  addSeconds,
  compareInstants,
  type Continuity,
  DEFAULT_LIMITS,
  type FeedHistory,
  type FeedState,
  instantOf,
  isSigError,
  type Limits,
  type ParsedTime,
  type Warning,
} from "@sig/core";
import type { KeyResolver } from "@sig/jose";
import type { HeldDocuments } from "../read/issuer_documents.ts";
import type { FeedVerification } from "../verify/feed_verification.ts";
import type { RunningHash, VerifiedIssuer } from "../verify/verify_feed.ts";
import {
  CONTRADICTIONS,
  type IssuerPin,
  type ProofMemory,
  type StoredPin,
} from "./pin.ts";

/** A verified feed, to continue from its end. */
export interface HeldFeed {
  /** Continues where the feed ends. */
  readonly verification: FeedVerification;
  /** Continues as well. */
  readonly digest: RunningHash;
  /** The feed's last bytes: a tail must begin with them. */
  readonly overlap: Uint8Array;
  /** Where it was read from. */
  readonly ref: string;
  /** The metadata's rule that its events were judged by. */
  readonly publicOnly: boolean;
  /** What was odd about how it is served. */
  readonly warnings: readonly Warning[];
  /** When it was last compared from its first byte on. */
  readonly comparedAt: Date;
}

/** Which part of a state a question is about. */
export interface StatePart {
  /** The only subjects (default: all). */
  readonly subjects?: readonly string[] | undefined;
  /** The time of the past that the question is about. */
  readonly asOf?: ParsedTime["asOf"];
  /** What was true at which time; null for now (default: any may be asked). */
  readonly at?: ParsedTime["at"] | null;
}

/** Reads a state from verified lines in a store. */
export interface StoredState {
  /**
   * Reads and verifies the lines of a part.
   *
   * @throws {SigError} `store_unavailable`.
   * @throws {HistoryMoved}
   */
  read(part: StatePart): Promise<FeedState>;
}

/** An issuer as it was at one time. */
export interface Observation {
  /** Everything that was verified. */
  readonly verified: VerifiedIssuer;
  /** When fetching it began. */
  readonly observedAt: Date;
  /** The same as text, made once for many answers. */
  readonly observedAtText: string;
  /** How it relates to what was seen before. */
  readonly continuity: Continuity;
  /** Where the state is when a store has it; that of `verified` is empty then. */
  readonly stored?: StoredState | undefined;
}

/** What a refresh found, when all of it was in order. */
export interface Refreshed {
  /** To be answered from. */
  readonly observation: Observation;
  /** Where the feed ends. */
  readonly pin: IssuerPin;
  /** Its keys, which need not be imported again. */
  readonly keys?: KeyResolver | undefined;
  /** To continue from; undefined once nothing can. */
  readonly feed: HeldFeed | undefined;
  /** To ask conditionally with. */
  readonly documents: HeldDocuments;
}

/**
 * What is known, as a value: each refresh makes the next one. It grows only by
 * refreshes that were verified as a whole; what is faulty or contradicts the pin
 * only takes away the right to answer from the older state.
 */
export interface IssuerRecord {
  /** What later fetches are compared with. */
  readonly pin: IssuerPin | undefined;
  /** What the last refresh in order found. */
  readonly held: Refreshed | undefined;
  /**
   * A fault or contradiction was seen since. Then nothing is answered, and no
   * request is conditional: everything is fetched, so that no fault can hide.
   */
  readonly unusable: boolean;
  /** Code of the last contradiction that nobody has acknowledged. */
  readonly lastContradiction: string | undefined;
  /** When a refresh was last repeated for keys that it did not know. */
  readonly repeatedAt: Date | undefined;
  /** What a store has of it, as it was read or written last. */
  readonly shared?: SharedPin | undefined;
}

/** A pin in a store. */
export interface SharedPin {
  /** What it says. */
  readonly stored: StoredPin;
  /** The text of its record. */
  readonly text: string;
}

/** The record of an issuer of which nothing is known. */
export const NOTHING_KNOWN: IssuerRecord = Object.freeze({
  pin: undefined,
  held: undefined,
  unusable: false,
  lastContradiction: undefined,
  repeatedAt: undefined,
});

/** The latest observation, unless a fault or contradiction was seen since. */
export function answerable(
  { pin, held, unusable }: IssuerRecord,
): Observation | undefined {
  // Others may have seen more of the issuer than this process holds.
  const isLatest = held?.pin.prefix_sha256 === pin?.prefix_sha256 &&
    (pin?.proof?.seen ?? 0) <= (held?.pin.sequence ?? 0);
  return unusable || !isLatest ? undefined : held?.observation;
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

/** The record with what a refresh found. */
export function acceptRefresh(
  record: IssuerRecord,
  refreshed: Refreshed,
): IssuerRecord {
  return { ...record, pin: refreshed.pin, held: refreshed, unusable: false };
}

/** The record with what a read by proof found; of the feed nothing is known. */
export function acceptProof(
  record: IssuerRecord,
  issuer: string,
  proof: ProofMemory,
): IssuerRecord {
  const at = proof.last_seen;
  // Every feed continues an empty one.
  const pin = record.pin ?? {
    ...{ issuer, sequence: 0, bytes: 0, prefix_sha256: SHA256_OF_NOTHING },
    ...{ last_event_id: null, keys: {}, etag: null },
    ...{ first_seen: at, last_seen: at },
  };
  // Another read may have ended before this one, which began earlier.
  const known = pin.proof ?? proof;
  const later = known.size > proof.size ? known : proof;
  const seen = Math.max(known.seen, proof.seen);
  return { ...record, pin: { ...pin, proof: { ...later, seen } } };
}

const SHA256_OF_NOTHING =
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/**
 * The record after a refresh that failed. An issuer that can't be reached
 * leaves the state as good as it was, unless it was seen to serve another feed
 * before the connection broke (`sawDifference`).
 */
export function acceptFailure(
  record: IssuerRecord,
  error: unknown,
  sawDifference: boolean,
): IssuerRecord {
  const { held } = record;
  const isUnavailable = isSigError(error) && error.category === "unavailable";
  const lastContradiction = contradictionOf(error) ?? record.lastContradiction;
  // It may have continued before the failure: then nothing can go on from it.
  const { isIntact, events } = held?.feed?.verification ?? {};
  const isWhole = isIntact && events === held?.pin.sequence;
  return {
    ...record,
    held: held === undefined || isWhole ? held : { ...held, feed: undefined },
    unusable: record.unusable || !isUnavailable || sawDifference,
    lastContradiction,
  };
}

/** The code of an error that contradicts a pin. */
export function contradictionOf(error: unknown): string | undefined {
  return isSigError(error) && CONTRADICTIONS.has(error.code)
    ? error.code
    : undefined;
}

/** An event that was ahead of the clock when it was read may be so no more. */
export function withoutPast(
  warnings: readonly Warning[],
  issuedAt: FeedHistory["issuedAt"],
  { now, limits = DEFAULT_LIMITS }: {
    readonly now: Date;
    readonly limits?: Limits | undefined;
  },
): readonly Warning[] {
  const horizon = addSeconds(instantOf(now), limits.clockSkewSeconds);
  return warnings.filter(({ code, sequence }) =>
    code !== "issued_at_future" || sequence === undefined ||
    compareInstants(issuedAt(sequence), horizon) > 0
  );
}

/**
 * The warning that the history was inconsistent once. It goes before those of
 * events: an answer has few, and an issuer can cause any number.
 */
export function contradictionWarning(
  code: string | undefined,
): readonly Warning[] {
  if (code === undefined) return [];
  return [{
    code: "history_was_inconsistent",
    detail: "since it is remembered, the issuer served something that " +
      `contradicts its history (${code})`,
  }];
}
