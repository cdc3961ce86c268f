/** What a read of an issuer starts from, and what it finds. @module */

import {
  addSeconds,
  compareInstants,
  type Continuity,
  DEFAULT_LIMITS,
  type FeedState,
  formatInstant,
  instantOf,
  type Limits,
  type SigError,
  type Warning,
} from "@sig/core";
import type { KeyResolver } from "@sig/jose/keys";
import type { OpenedCheckpoint } from "@sig/jose/proofs";
import type { Recovery } from "@sig/jose/recovery";
import type { OpenedDocument } from "../fetch/fetch_options.ts";
import type { PinKeeper } from "../memory/keeper.ts";
import type { Mirror } from "../memory/mirror.ts";
import { beginningOf, type Seen, type Served } from "../memory/pin.ts";
import type { Of, VerifiedState } from "../memory/transitions.ts";
import type { ProofPolicy } from "../proofs/proof_policy.ts";
import type { HeldDocuments } from "../read/issuer_documents.ts";
import type { DocumentReader, IssuerLocation } from "../read/reader.ts";
import type { FeedVerification } from "../verify/feed_verification.ts";
import type { Semaphore } from "../verify/semaphore.ts";
import type {
  ReadingOptions,
  RunningHash,
  VerifiedIssuer,
} from "../verify/verify_feed.ts";
import type { VerifiedEvent } from "../verify/verified_feed.ts";
import type { OpenedIssuer } from "./issuer_proofs.ts";

/** A verified issuer at one time. */
export interface Observation {
  readonly verified: VerifiedIssuer;
  readonly observedAt: Date;
  /** The same as RFC 3339 UTC, as answers show it. */
  readonly observedText: string;
  readonly continuity: Continuity;
  /** Whether it answers only because the issuer can't be reached. */
  readonly isStale?: boolean | undefined;
}

/** What a state of this process answers with. */
interface Answering {
  /**
   * The checkpoint that was used or confirmed; undefined if none was required.
   */
  readonly checkpoint: OpenedCheckpoint | undefined;
  readonly verified: VerifiedIssuer;
  /** When it was read, as answers show it. */
  readonly observedText: string;
  readonly continuity: Continuity;
  /** Approximate size in bytes. */
  readonly heldBytes: number;
}

/** The verified feed of this process; the next read continues it. */
export type Copy =
  & VerifiedState
  & Answering
  & {
    readonly sha256: string;
    readonly bytes: number;
    /** The last line; bytes that continue the feed must repeat it. */
    readonly overlap: Uint8Array;
    readonly etag: string | null;
    readonly mediaType: string | null;
    /** The URL or path of the feed. */
    readonly ref: string;
    /** `public_only` of the metadata that its events were verified with. */
    readonly publicOnly: boolean;
    /** The recovery key and its statements, by which its events apply. */
    readonly recovery: Recovery | undefined;
    /** When the feed was last compared from its first byte. */
    readonly comparedAt: Date;
    /** The documents that its events were verified with. */
    readonly documents: HeldDocuments;
    readonly keys: KeyResolver;
    /** At the end of the feed, unless a read has failed since. */
    readonly verification: FeedVerification;
    /** The SHA-256 of the feed, at the same place. */
    readonly digest: RunningHash;
  };

/** The last proven relationships of one subject. */
export type Part =
  & VerifiedState
  & Answering
  & {
    readonly seen: Seen;
    readonly subject: string;
    /** Whether it can answer questions about a past time. */
    readonly isPast: boolean;
    /** Number of events in the checkpoint. */
    readonly size: number;
    /** Size of the feed in bytes, up to the checkpoint. */
    readonly feedBytes: number;
  };

/** A valid feed that continues the pin. */
export type ValidFeed = Of<"feed"> & { readonly copy: Copy };

/** The outcome of a read of the feed. */
export type FeedOutcome =
  | ValidFeed
  | Of<"contradiction" | "fault" | "unreachable">;

/** The outcome of a read of the feed, or of a read by proof. */
export type ReadOutcome =
  | FeedOutcome
  /** A proof that continues the pin. */
  | Of<"proof"> & { readonly part: Part };

/**
 * Reads an issuer, and once more if the first outcome may be transient: the
 * issuer may be publishing, or rotating a key. A connection that then breaks
 * must not hide the fault that was seen before.
 *
 * @param read Gets the fault of the first read, if any, at the second.
 * @param isTransient Applies to all but contradictions. Of those, only
 * `key_not_introduced` is transient.
 */
export async function readTwiceIfTransient<
  O extends {
    readonly kind: string;
    readonly error?: SigError;
    readonly fault?: SigError | undefined;
  },
>(
  read: (isRepeated: boolean, before?: SigError) => Promise<O>,
  isTransient: (first: O) => boolean,
): Promise<O | Of<"fault">> {
  const first = await read(false);
  const isRepeated = first.kind === "contradiction"
    ? first.error?.code === "key_not_introduced"
    : isTransient(first);
  if (!isRepeated) return first;
  const before = first.error ?? first.fault;
  const again = await read(true, before);
  return again.kind === "unreachable" && before !== undefined
    ? { kind: "fault", error: again.error ?? before }
    : again;
}

/** Maximum size of an incident's description in bytes. */
const MAX_DETAIL_BYTES = 2_000;

/**
 * Returns the contradiction of an error. Its description has the old and the
 * new value, if the error's context has them.
 */
export function contradictionOf(
  error: SigError,
  served: Served | null,
  now: Date,
): Of<"contradiction"> {
  const { message, context } = error;
  const changed = context.published_thumbprint !== undefined
    ? `: was ${context.remembered_thumbprint}, is ${context.published_thumbprint}`
    : context.fetched_sha256 !== undefined
    ? `: the SHA-256 up to there was ${context.remembered_sha256}, is ${context.fetched_sha256}`
    : "";
  const detail = beginningOf(message + changed, MAX_DETAIL_BYTES);
  return {
    kind: "contradiction",
    at: timeOf(now),
    detail,
    served,
    error,
  };
}

/** What was read of an issuer before its feed is read. */
interface ReadAhead {
  /** Has already read documents; each is used once. */
  readonly reader: DocumentReader;
  /** The fault of a proof. */
  readonly fault?: SigError | undefined;
}

/** An issuer that is followed: its pin and its copy. */
export class FollowedIssuer {
  readonly location: IssuerLocation;
  readonly keeper: PinKeeper;
  copy: Copy | undefined;
  /** When a read was last repeated because of unknown keys. */
  repeatedAt: Date | undefined;
  /**
   * What a read by proof, or of the metadata, has read already. The next read of
   * the feed takes it: that of the same question, or of another that comes first.
   */
  readAhead: ReadAhead | undefined;

  constructor(location: IssuerLocation, keeper: PinKeeper) {
    this.location = location;
    this.keeper = keeper;
  }

  /** The issuer's DID; for a local source, the empty string. */
  get did(): string {
    return this.location.expectedIssuer ?? "";
  }

  /** Returns what was read already; it is used once. */
  takeReadAhead(): ReadAhead {
    const { readAhead = this.location } = this;
    this.readAhead = undefined;
    return readAhead;
  }
}

/** Options of a refresh. */
export interface RefreshOptions extends ReadingOptions {
  readonly now: Date;
  /** Called with each newly verified event, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /** Called before each attempt: events of an earlier attempt do not count. */
  readonly onAttempt?: (() => void) | undefined;
  readonly onProgress?:
    | ((bytes: number, totalBytes: number | undefined) => void)
    | undefined;
  /** Limits concurrent reads of large feeds. */
  readonly largeReads?: Semaphore | undefined;
  /** Requirements for the checkpoint. If set, the feed must confirm it. */
  readonly checkpointPolicy?: ProofPolicy | undefined;
  /** With `checkpointPolicy`: called with the confirmed checkpoint. */
  readonly onConfirmed?:
    | ((note: string, checkpoint: OpenedCheckpoint) => void)
    | undefined;
  /** Verifies the whole feed (default: false). */
  readonly full?: boolean | undefined;
  /** An issuer without a pin is an error (default: false). */
  readonly requirePin?: boolean | undefined;
  /** The folder of copies of published bytes (default: none). */
  readonly mirrorFolder?: string | undefined;
  /** As in `VerifyFeedOptions`; the feed is then not continued. */
  readonly keepOnly?: string | null | undefined;
}

/** An opened feed, with the warnings about how it is served. */
export interface OpenedFeed {
  readonly document: OpenedDocument;
  readonly warnings: readonly Warning[];
}

/** An issuer whose documents are verified and whose feed is to be read. */
export interface Reading extends Omit<OpenedIssuer, "error"> {
  readonly documents: HeldDocuments;
  readonly options: RefreshOptions;
  /** The copy on disk that the feed is read through. */
  readonly mirror: Mirror | undefined;
}

/** Returns the time of a read as it is remembered. */
export function timeOf(now: Date): string {
  return formatInstant(instantOf(now));
}

/**
 * Drops `issued_at_future` warnings of events that are no longer ahead of the
 * clock.
 */
export function withoutPast(
  warnings: readonly Warning[],
  { history }: FeedState,
  { now, limits = DEFAULT_LIMITS }: {
    readonly now: Date;
    readonly limits?: Limits | undefined;
  },
): readonly Warning[] {
  const horizon = addSeconds(instantOf(now), limits.clockSkewSeconds);
  return warnings.filter(({ code, sequence }) =>
    code !== "issued_at_future" || sequence === undefined ||
    compareInstants(history.issuedAt(sequence), horizon) > 0
  );
}
