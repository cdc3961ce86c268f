/**
 * Fetches and verifies the feed in a refresh, and checks whether it continues
 * the pin (docs/protocol.md §6.2, §6.3).
 *
 * @module
 */

import { DEFAULT_LIMITS, isSigError, type Limits } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import { Sha256 } from "@sig/jose/internal";
import type {
  FetchConditions,
  OpenedDocument,
} from "../fetch/fetch_options.ts";
import {
  type IssuerRecord,
  isUnusable,
  type Refreshed,
  RefreshFailure,
} from "../memory/issuer_record.ts";
import {
  type IssuerPin,
  type ProofMemory,
  shortenKids,
} from "../memory/pin.ts";
import type { OpenedCheckpoint } from "@sig/jose/proofs";
import type { ProofsOfFeed } from "./full_read.ts";
import type { ProofPolicy } from "../proofs/proof_policy.ts";
import type { NewLines } from "../memory/sqlite_lines.ts";
import type { HeldFeed } from "../memory/stored_lines.ts";
import { replayFrom, WarnedEvents } from "../memory/partial_history.ts";
import { ByteStream } from "../read/byte_stream.ts";
import { feedTooLarge } from "../verify/feed_fault.ts";
import {
  FeedVerification,
  type ReadFeedOptions,
} from "../verify/feed_verification.ts";
import type { LoadedIssuer } from "../verify/load_issuer.ts";
import type { Semaphore } from "../verify/semaphore.ts";
import {
  createFastSha256,
  type ReadingOptions,
  type RunningHash,
} from "../verify/verify_feed.ts";
import type { VerifiedEvent } from "../verify/verified_feed.ts";
import {
  checkContinuity,
  checkKeys,
  type FetchedKeys,
  rolledBack,
  usableKeys,
} from "./check_continuity.ts";
import { contradictionOfProofs } from "./compare_proofs.ts";

/** Maximum time between two comparisons of a feed from its first byte. */
const COMPARE_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * A tail up to this size is read completely before it is verified. A broken
 * connection, or a feed that is being written, then does not force verification
 * from the start.
 */
const MAX_TAKEN_BYTES = 1024 * 1024;

/** Number of bytes digested between two turns of the event loop. */
const BYTES_PER_TURN = 1024 * 1024;

const LF = 0x0a;

export interface RefreshOptions extends ReadingOptions {
  readonly now: Date;
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  readonly onProgress?:
    | ((bytes: number, totalBytes: number | undefined) => void)
    | undefined;
  /** Size limits of a feed that is verified from its start (default: `limits`). */
  readonly fromStartLimits?: Limits | undefined;
  /**
   * Limits concurrent reads of large feeds; set for unlisted issuers, whose
   * history may be replaced because they are not pinned.
   */
  readonly largeReads?: Semaphore | undefined;
  /** Receives the lines for a store; this process then keeps no state. */
  readonly lines?: NewLines | undefined;
  /** With `lines`: whether this process needs the whole state now. */
  readonly needsState?: boolean | undefined;
  /** Requirements for the checkpoint. If set, the feed must confirm it. */
  readonly checkpointPolicy?: ProofPolicy | undefined;
  /** With `checkpointPolicy`: called with the confirmed checkpoint. */
  readonly onConfirmed?:
    | ((note: string, checkpoint: OpenedCheckpoint) => void)
    | undefined;
  readonly isSecondAttempt?: boolean | undefined;
}

/** The input of a feed's refresh. */
export interface FeedRefresh {
  readonly record: IssuerRecord;
  /** The pin, with digests of published kids replaced by the kids. */
  readonly pin: IssuerPin | undefined;
  readonly loaded: LoadedIssuer;
  readonly keys: FetchedKeys;
  readonly proofs: ProofsOfFeed;
  readonly options: RefreshOptions;
}

/** A valid feed that continues the pin. */
export interface ReadFeed extends Omit<HeldFeed, "ref" | "publicOnly"> {
  readonly sha256: string;
  readonly etag: string | null;
  /** Whether the whole feed was verified, and not only its new events. */
  readonly isFromStart: boolean;
  readonly proof?: ProofMemory | undefined;
}

/**
 * Fetches and verifies the feed of an issuer whose documents are verified.
 *
 * @throws {RefreshFailure} for a contradiction; other errors if the feed can't
 * be read.
 */
export async function readFeed(refresh: FeedRefresh): Promise<ReadFeed> {
  const { pin } = refresh;
  if (pin === undefined) return await verifyFromStart(refresh);
  const { keys, proofs: { checkpoint } } = refresh;
  const contradiction = checkKeys(pin, keys) ??
    contradictionOfProofs(pin, { keys, checkpoint });
  if (contradiction !== undefined) {
    throw await countFeed(refresh, pin, contradiction);
  }
  const held = heldToContinue(refresh, pin);
  if (held === undefined) return await verifyFromStart(refresh);
  const continued = await continueFrom(refresh, pin, held);
  if (continued !== undefined) return continued;
  try {
    return await verifyFromStart(refresh);
  } catch (error) {
    const { cause, seen } = RefreshFailure.of(error);
    throw new RefreshFailure(cause, { seen, sawDifference: true });
  }
}

/** Returns the conditions of a feed request; undefined for the whole feed. */
export function conditionsToContinue(
  record: IssuerRecord,
  ref: string,
  now: Date,
): FetchConditions | undefined {
  const { held } = record;
  const feed = held?.feed;
  const mayAsk = !isUnusable(record) && feed?.ref === ref &&
    isWithin(COMPARE_AFTER_MS, feed.comparedAt, now);
  if (!mayAsk) return undefined;
  const { etag, bytes } = held!.pin;
  return {
    ...(etag === null ? {} : { ifNoneMatch: etag }),
    ...(bytes > 0
      ? { range: { from: bytes - feed.verification.overlap.length } }
      : {}),
  };
}

/**
 * Returns whether less than `limitMs` have passed since `from`. Returns false
 * if `from` is undefined or in the future: a clock that was set back must not
 * keep anything valid indefinitely.
 */
export function isWithin(
  limitMs: number,
  from: Date | undefined,
  now: Date,
): boolean {
  if (from === undefined) return false;
  const elapsedMs = now.getTime() - from.getTime();
  return elapsedMs >= 0 && elapsedMs < limitMs;
}

type HeldToContinue = Refreshed & { readonly feed: HeldFeed };

/**
 * Returns the feed to continue from; undefined if it must be verified from its
 * start.
 */
function heldToContinue(
  { loaded, record: { held }, proofs, options }: FeedRefresh,
  pin: IssuerPin,
): HeldToContinue | undefined {
  const { feed } = held ?? {};
  const { now, checkpointPolicy } = options;
  // Only a feed read from its start can confirm the state of a checkpoint.
  const isDue = proofs.checkpoint !== undefined &&
    (checkpointPolicy !== undefined ||
      !isWithin(COMPARE_AFTER_MS, feed?.comparedAt, now));
  if (isDue || proofs.needStart(pin, feed?.verification.tree)) return undefined;
  const isUsable = feed?.publicOnly === loaded.metadata.public_only &&
    held!.pin.bytes <= pin.bytes;
  return isUsable ? held as HeldToContinue : undefined;
}

type OpenedFeed = Awaited<ReturnType<LoadedIssuer["openFeed"]>>;

/**
 * Continues the held feed; undefined if other bytes were served, which alone
 * proves nothing.
 */
async function continueFrom(
  refresh: FeedRefresh,
  pin: IssuerPin,
  held: HeldToContinue,
  isWhole = false,
): Promise<ReadFeed | undefined> {
  const { loaded, options } = refresh;
  const { verification } = held.feed;
  const isOfPin = held.pin.prefix_sha256 === pin.prefix_sha256;
  refresh.proofs.prepare(verification.tree, pin);
  const opened = isWhole
    ? await loaded.openFeed()
    : await openToContinue(refresh);
  if (opened === undefined) return undefined;
  const { document, warnings } = opened;
  const { range, etag } = document;
  const stream = new ByteStream(observed(document, options));
  try {
    if (document.unchanged) {
      // The issuer serves the held feed, but another process has seen more
      // events, or accepted a different history.
      if (!isOfPin) return undefined;
      const { etag, prefix_sha256: sha256 } = held.pin;
      const same = { ...held.feed, etag, sha256 };
      return await requireProofs(refresh, { ...same, isFromStart: false });
    }
    const digest = range === undefined
      ? await digestPrefix(stream, held.pin, options)
      : await compareOverlap(stream, held.feed);
    if (digest === undefined) return undefined;
    const progress = new FeedProgress(digest, {
      at: held.pin.bytes,
      until: pin.bytes,
    });
    const first = await stream.take(MAX_TAKEN_BYTES);
    if (first.length < MAX_TAKEN_BYTES && first.length > 0) {
      if (first.at(-1) !== LF) {
        throw verification.incompleteLineAfter(linesOf(first));
      }
    }
    if (first.length > 0) {
      const bytes = progress.follow(chain(first, stream));
      await verification.read(bytes, readOptions(refresh));
    }
    const isOdd = range !== undefined && etag !== held.pin.etag &&
      verification.events === held.pin.sequence;
    // A different entity tag without a new event: the feed may have changed
    // before the tail.
    if (isOdd) return await continueFrom(refresh, pin, held, true);
    return await requireContinuity(refresh, progress, {
      verification,
      etag,
      comparedAt: range === undefined ? options.now : held.feed.comparedAt,
      warnings,
      isFromStart: false,
    });
  } catch (error) {
    // The held feed may be that of a history that was replaced.
    if (error instanceof RefreshFailure && !isOfPin) return undefined;
    throw error;
  } finally {
    await stream.close();
    await document.cancel();
  }
}

/**
 * Opens the tail if possible, otherwise the whole feed; undefined if the feed
 * is shorter than the pin.
 */
async function openToContinue(
  { record, loaded, options }: FeedRefresh,
): Promise<OpenedFeed | undefined> {
  const { events_uri } = loaded.metadata;
  const conditions = conditionsToContinue(record, events_uri, options.now);
  if (conditions === undefined) return await loaded.openFeed();
  try {
    return await loaded.openFeed(conditions);
  } catch (error) {
    // The feed ends before the known bytes.
    if (isSigError(error, "fetch_status") && error.context.status === 416) {
      return undefined;
    }
    // A server without ranges does not contradict the pin.
    if (isSigError(error, "fetch_failed") && error.context.kind === "range") {
      return await loaded.openFeed();
    }
    throw error;
  }
}

/** Verifies the feed from its first byte, and compares it with the pin. */
async function verifyFromStart(refresh: FeedRefresh): Promise<ReadFeed> {
  const { pin, loaded, options } = refresh;
  const { lines } = options;
  const { document, warnings } = await loaded.openFeed();
  try {
    lines?.restart(undefined);
    const tree = refresh.proofs.newTree(pin);
    refresh.proofs.prepare(tree, pin);
    const verification = new FeedVerification({
      issuer: loaded.issuer,
      publicOnly: loaded.metadata.public_only,
      limits: options.fromStartLimits ?? options.limits,
      unknownEvents: options.unknownEvents,
      unmatchedRevoke: options.unmatchedRevoke,
      tree,
      onLine: lines && ((...line) => lines.add(...line)),
      start: lines && !options.needsState
        ? {
          bytes: 0,
          lastEventId: null,
          overlap: new Uint8Array(),
          keys: [],
          replay: replayFrom(new WarnedEvents(), { past: lines.past() }),
        }
        : undefined,
    });
    const progress = new FeedProgress(hashFor(options), {
      at: 0,
      until: pin?.bytes ?? 0,
    });
    await verification.read(
      progress.follow(observed(document, options)),
      { ...readOptions(refresh), expectedBytes: document.length },
    );
    return await requireContinuity(refresh, progress, {
      verification,
      etag: document.etag,
      comparedAt: options.now,
      warnings,
      isFromStart: true,
    });
  } finally {
    await document.cancel();
  }
}

/**
 * Returns the feed, which must continue the pin.
 *
 * @throws {RefreshFailure} for a contradiction, with the served feed.
 */
async function requireContinuity(
  refresh: FeedRefresh,
  progress: FeedProgress,
  read: Omit<ReadFeed, "digest" | "sha256">,
): Promise<ReadFeed> {
  const { pin, keys, options } = refresh;
  const { digest, prefixSha256 } = progress;
  const { events } = read.verification;
  const feed = { ...read, digest, sha256: digest.hex() };
  const contradiction = pin && checkContinuity(pin, {
    keys,
    events,
    prefixSha256,
    firstDifference: prefixSha256 === pin.prefix_sha256
      ? undefined
      : options.lines?.firstDifference(),
  });
  if (contradiction !== undefined) {
    throw await contradicted(contradiction, events, feed.sha256, keys);
  }
  return await requireProofs(refresh, feed);
}

/**
 * Returns the feed with the proof to remember. The feed must not contradict the
 * remembered proof.
 *
 * @throws {RefreshFailure} as {@linkcode requireContinuity}.
 */
async function requireProofs(
  { pin, keys, proofs, options }: FeedRefresh,
  feed: ReadFeed,
): Promise<ReadFeed> {
  const { verification: { tree, events } } = feed;
  const { now, checkpointPolicy } = options;
  const read = { events, keys, tree, now };
  const contradiction = pin && await proofs.findContradiction(pin, read);
  if (contradiction !== undefined) {
    throw await contradicted(contradiction, events, feed.sha256, keys);
  }
  const proof = await proofs.remembered(pin, read, checkpointPolicy);
  if (checkpointPolicy !== undefined) {
    options.onConfirmed?.((await proofs.text)!, proofs.checkpoint!);
  }
  tree?.endState();
  return { ...feed, proof };
}

/**
 * Counts the lines after the keys have contradicted the pin. The feed can't be
 * verified, but the count shows whether it is also rolled back.
 */
async function countFeed(
  { loaded, keys, options }: FeedRefresh,
  pin: IssuerPin,
  contradiction: unknown,
): Promise<RefreshFailure> {
  const { maxFeedBytes } = options.limits ?? DEFAULT_LIMITS;
  try {
    const { document } = await loaded.openFeed();
    const digest = createFastSha256();
    let bytes = 0;
    let events = 0;
    try {
      for await (const chunk of document.bytes) {
        digest.update(chunk);
        events += linesOf(chunk);
        bytes += chunk.length;
        if (bytes > maxFeedBytes) throw feedTooLarge(maxFeedBytes);
      }
    } finally {
      await document.cancel();
    }
    const isShorter = events < pin.sequence;
    const error = isShorter ? rolledBack(pin.sequence, events) : contradiction;
    return await contradicted(error, events, digest.hex(), keys);
  } catch {
    // The contradiction of the keys remains if the feed can't be read.
    return new RefreshFailure(contradiction);
  }
}

async function contradicted(
  error: unknown,
  sequence: number,
  sha256: string,
  keys: FetchedKeys,
): Promise<RefreshFailure> {
  const usable = await shortenKids(usableKeys(keys));
  const seen = { sequence, sha256, keys: usable };
  return new RefreshFailure(error, { seen });
}

function readOptions(
  { loaded, options }: FeedRefresh,
): ReadFeedOptions {
  const { now, yieldToEventLoop, onEvent, workers } = options;
  return { now, yieldToEventLoop, onEvent, workers, keys: loaded.keys };
}

const SMALL_FEED_BYTES = 64 * 1024;

/**
 * Yields the bytes, reports progress, and waits before it reads a large feed.
 */
async function* observed(
  { bytes, length }: OpenedDocument,
  { onProgress, largeReads }: RefreshOptions,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  let isLarge = false;
  try {
    for await (const chunk of bytes) {
      read += chunk.length;
      onProgress?.(read, length);
      if (!isLarge && read > SMALL_FEED_BYTES) {
        await largeReads?.enter();
        isLarge = true;
      }
      yield chunk;
    }
  } finally {
    if (isLarge) largeReads?.leave();
  }
}

/** Hashes a feed while it is read: the whole feed and the pinned prefix. */
class FeedProgress {
  readonly digest: RunningHash;
  readonly #until: number;
  #at: number;
  #prefixSha256: string | undefined;

  constructor(
    digest: RunningHash,
    { at, until }: { readonly at: number; readonly until: number },
  ) {
    this.digest = digest;
    this.#at = at;
    this.#until = until;
    this.#notePrefix();
  }

  /** SHA-256 of the pinned prefix; undefined if the feed is shorter. */
  get prefixSha256(): string | undefined {
    return this.#prefixSha256;
  }

  async *follow(
    bytes: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      const pinned = Math.max(0, this.#until - this.#at);
      const isWithin = pinned === 0 || pinned >= chunk.length;
      const parts = isWithin
        ? [chunk]
        : [chunk.subarray(0, pinned), chunk.subarray(pinned)];
      for (const part of parts) {
        this.digest.update(part);
        this.#at += part.length;
        this.#notePrefix();
        yield part;
      }
    }
  }

  #notePrefix(): void {
    if (this.#at === this.#until) this.#prefixSha256 ??= this.digest.hex();
  }
}

/** Stored lines need a digest whose state can be saved. */
function hashFor({ lines }: RefreshOptions): RunningHash {
  return lines === undefined ? createFastSha256() : new Sha256();
}

/** Reads the known bytes; returns their digest, or undefined if they differ. */
async function digestPrefix(
  stream: ByteStream,
  pin: IssuerPin,
  options: RefreshOptions,
): Promise<RunningHash | undefined> {
  const { yieldToEventLoop } = options;
  const digest = hashFor(options);
  let left = pin.bytes;
  let sinceTurn = 0;
  while (left > 0) {
    const chunk = await stream.next(left);
    if (chunk === undefined) return undefined;
    digest.update(chunk);
    left -= chunk.length;
    sinceTurn += chunk.length;
    if (yieldToEventLoop !== undefined && sinceTurn >= BYTES_PER_TURN) {
      sinceTurn = 0;
      await yieldToEventLoop();
    }
  }
  return digest.hex() === pin.prefix_sha256 ? digest : undefined;
}

async function compareOverlap(
  stream: ByteStream,
  { verification: { overlap }, digest }: HeldFeed,
): Promise<RunningHash | undefined> {
  return sameBytes(await stream.take(overlap.length), overlap)
    ? digest
    : undefined;
}

async function* chain(
  first: Uint8Array,
  stream: ByteStream,
): AsyncGenerator<Uint8Array> {
  yield first;
  yield* stream.rest();
}

function linesOf(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === LF) count++;
  return count;
}
