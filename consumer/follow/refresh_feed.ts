/**
 * The feed's part of a refresh: which bytes to get, and what they prove.
 *
 * Long because its ways (unchanged, grown, different, from the start) lead into
 * each other, and are read best beside each other.
 *
 * @module
 */

import { isSigError, type SigError, type Warning } from "@sig/core";
import type { KeyResolver } from "@sig/jose";
import { isFault } from "../verify/feed_fault.ts";
import type { FeedVerification } from "../verify/feed_verification.ts";
import type { FetchConditions } from "../fetch/fetch_options.ts";
import { fetchedKeys } from "./fetched_keys.ts";
import {
  type FollowedFeed,
  type FollowFeedOptions,
  goOn,
  readFromStart,
  tailStart,
} from "./follow_feed.ts";
import { isWithin } from "./is_within.ts";
import type { IssuerPin } from "../pins/issuer_pin.ts";
import type { HeldFeed, IssuerRecord, Refreshed } from "./issuer_record.ts";
import {
  contradictedKids,
  judgeContinuity,
  judgeKeys,
} from "./judge_continuity.ts";
import type { LoadedIssuer } from "../verify/load_issuer.ts";
import type { OpenedDocument } from "../read/reader.ts";
import { requireAgreement } from "./refresh_keys.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import type { SignatureMarks } from "../verify/signature_marks.ts";
import { MAX_REPORTED_FAULTS } from "../verify/verify_report.ts";

/** A feed is compared from its first byte at least this often. */
const COMPARE_AFTER_MS = 24 * 60 * 60 * 1000;

/** What keys explain: signatures by one that is another now, or gone. */
const EXPLAINED_BY_KEYS: ReadonlySet<string> = new Set([
  "signature_invalid",
  "key_not_found",
  "key_not_authorized",
]);

/** A feed that is in order and goes on from what is pinned. */
export interface RefreshedFeed extends FollowedFeed {
  /** Its entity tag. */
  readonly etag: string | null;
  /** As in {@linkcode HeldFeed}. */
  readonly comparedAt: Date;
  /** What is odd about how it is served. */
  readonly warnings: readonly Warning[];
}

/** There is no feed to rely upon. */
export interface FailedFeed {
  /** It was refused, or could not be read. */
  readonly kind: "failed";
  /** A fault, a contradiction, or why it can't be read. */
  readonly error: unknown;
  /** Other bytes were served than those that are held. */
  readonly sawDifference: boolean;
  /** Every fault, where a report asks for them. */
  readonly faults: readonly SigError[];
  /** Events that did verify; for a report. */
  readonly verifiedEvents: number;
  /** What is odd about how it is served. */
  readonly warnings: readonly Warning[];
}

/** What going on from the held feed came to. */
type Continued =
  | {
    /** The server says so; or: the held bytes and what was added to them. */
    readonly kind: "unchanged" | "grown";
    readonly feed: RefreshedFeed;
  }
  /** Other bytes than the held ones: nothing is proven by them. */
  | { readonly kind: "different" }
  | FailedFeed;

/** What came of a feed. */
export type FeedOutcome =
  | {
    /** How it was found in order: `anew` when read from its first byte. */
    readonly kind: "unchanged" | "grown" | "anew";
    readonly feed: RefreshedFeed;
  }
  | FailedFeed;

/** What a feed is refreshed with. */
export interface FeedRefresh {
  /** What is known before. */
  readonly record: IssuerRecord;
  /** The issuer's documents, judged. */
  readonly loaded: LoadedIssuer;
  /** Gets keys that don't contradict the pin; undefined where that may not be. */
  readonly refetchKeys: (() => Promise<KeyResolver>) | undefined;
  /** As the refresh was told. */
  readonly options: RefreshOptions;
}

/** Gets, verifies and judges the feed of an issuer whose documents are loaded. */
export async function refreshFeed(refresh: FeedRefresh): Promise<FeedOutcome> {
  const { loaded, record: { pin, held } } = refresh;
  if (pin === undefined) return await readAnew(refresh);
  const keys = await fetchedKeys(loaded.keys, Object.keys(pin.keys));
  const contradiction = judgeKeys(pin, keys);
  if (contradiction !== undefined) {
    const kids = contradictedKids(pin, keys);
    return await judgeWithoutKeys(refresh, contradiction, kids);
  }
  // Another rule for events means that all of them are judged again.
  const mayGoOn = held?.feed?.publicOnly === loaded.metadata.public_only;
  if (!mayGoOn) return await readAnew(refresh);
  const continued = await goOnFrom(refresh, pin, held.feed);
  // A remembered feed is verified piece by piece: a report wants all faults.
  const isPart = continued.kind === "failed" && held.feed.growth !== undefined;
  if (isPart && refresh.options.report && isFault(continued.error)) {
    return await readAnew(refresh);
  }
  return continued.kind === "different"
    ? await readAnew(refresh, { sawDifference: true })
    : continued;
}

async function goOnFrom(
  refresh: FeedRefresh,
  pin: IssuerPin,
  held: HeldFeed,
  open = openToGoOn,
): Promise<Continued> {
  const { loaded, options } = refresh;
  const opened = await open(refresh);
  if (opened === undefined) return { kind: "different" };
  const { range, unchanged } = opened.document;
  const known = range === undefined ? pin.bytes : held.overlap.length;
  const document = bounded(opened.document, known, options);
  const { verification } = held;
  try {
    if (unchanged) {
      const { etag, prefix_sha256: sha256 } = pin;
      const feed = { ...held, etag, sha256, keys: loaded.keys };
      return { kind: "unchanged", feed };
    }
    const feed = await goOn(held, pin, document, reading(refresh));
    throwFaults(verification);
    if (feed === undefined) return { kind: "different" };
    const { etag } = document;
    const isOdd = range !== undefined && etag !== pin.etag &&
      feed.verification.events === pin.sequence;
    // Another tag and nothing new: something before the tail may have changed.
    if (isOdd) return await goOnFrom(refresh, pin, held, openWhole);
    await agree(refresh, feed);
    const comparedAt = range === undefined ? options.now : held.comparedAt;
    const { warnings } = opened;
    return { kind: "grown", feed: { ...feed, etag, comparedAt, warnings } };
  } catch (error) {
    return failed(error, { verification, warnings: opened.warnings });
  } finally {
    await document.cancel();
  }
}

function openWhole({ loaded }: FeedRefresh): Promise<OpenedFeed> {
  return loaded.openFeed();
}

/** How the feed at that place is asked for what is new; undefined for all of it. */
export function conditionsToGoOn(
  { pin, held, isSuspended }: IssuerRecord,
  ref: string,
  now: Date,
): FetchConditions | undefined {
  const feed = held?.feed;
  const mayAsk = !isSuspended && pin !== undefined && feed?.ref === ref &&
    isWithin(COMPARE_AFTER_MS, feed.comparedAt, now);
  if (!mayAsk) return undefined;
  const hasRange = feed.digest !== undefined && pin.bytes > 0;
  return {
    ...(pin.etag === null ? {} : { ifNoneMatch: pin.etag }),
    ...(hasRange ? { range: { from: tailStart(feed, pin) } } : {}),
  };
}

/** The tail where that may be, else the whole feed; undefined when it is gone. */
async function openToGoOn(
  { record, loaded, options }: FeedRefresh,
): Promise<OpenedFeed | undefined> {
  const { events_uri } = loaded.metadata;
  const conditions = conditionsToGoOn(record, events_uri, options.now);
  if (conditions === undefined) return await loaded.openFeed();
  try {
    return await loaded.openFeed(conditions);
  } catch (error) {
    // The feed ends before the bytes that we know.
    if (isSigError(error, "fetch_status") && error.context.status === 416) {
      return undefined;
    }
    // Ranges are beyond this server: it proves nothing.
    if (isSigError(error, "fetch_failed") && error.context.kind === "range") {
      return await loaded.openFeed();
    }
    throw error;
  }
}

/** Reads the feed from its first byte, and compares it with the pin. */
async function readAnew(
  refresh: FeedRefresh,
  { sawDifference = false, told = reading(refresh) }: {
    readonly sawDifference?: boolean;
    readonly told?: FollowFeedOptions;
  } = {},
): Promise<FeedOutcome> {
  const { record: { pin, held }, loaded, options } = refresh;
  let verification: FeedVerification | undefined;
  let warnings: readonly Warning[] = [];
  try {
    const opened = await loaded.openFeed();
    warnings = opened.warnings;
    const document = bounded(opened.document, 0, options);
    try {
      const feed = await readFromStart(
        document,
        {
          issuer: loaded.issuer,
          publicOnly: loaded.metadata.public_only,
          limits: options.anewLimits ?? options.limits,
          unknownEvents: options.unknownEvents,
          unmatchedRevoke: options.unmatchedRevoke,
          // Where lines pass for events nobody asks what they say, and a revoke
          // may be of a relationship that one of them began.
          ...(told.passOver === undefined
            ? {}
            : { keepOnly: null, unmatchedRevoke: "ignore" }),
        },
        told,
        pin?.bytes,
      );
      verification = feed.verification;
      throwFaults(verification);
      const isSame = feed.prefixSha256 === pin?.prefix_sha256;
      const contradiction = pin && judgeContinuity(pin, {
        keys: await fetchedKeys(feed.keys, Object.keys(pin.keys)),
        events: verification.events,
        prefixSha256: feed.prefixSha256,
        firstDifference: isSame
          ? undefined
          : await firstDifference(held, feed.marks),
      });
      if (contradiction !== undefined) throw contradiction;
      await agree(refresh, feed);
      const { etag } = document;
      const comparedAt = options.now;
      return { kind: "anew", feed: { ...feed, etag, comparedAt, warnings } };
    } finally {
      await document.cancel();
    }
  } catch (error) {
    return failed(error, { verification, warnings, sawDifference });
  }
}

/** The first event of what is held that the feed has not. */
async function firstDifference(
  held: Refreshed | undefined,
  marks: SignatureMarks,
): Promise<number | undefined> {
  try {
    return held && marks.firstDifference(
      await held.allMarks(),
      held.pin.sequence,
    );
  } catch (error) {
    // Without its place it is a contradiction all the same.
    if (isSigError(error, "store_unavailable")) return undefined;
    throw error;
  }
}

/**
 * The keys contradict the pin already; the feed tells whether it is rolled
 * back too, or faulty by itself. Lines that can't be verified for want of
 * those keys pass for events. A feed that can't be read changes nothing.
 */
async function judgeWithoutKeys(
  refresh: FeedRefresh,
  contradiction: SigError,
  kids: ReadonlySet<string>,
): Promise<FailedFeed> {
  const outcome = await readAnew(refresh, {
    told: {
      ...reading(refresh),
      refreshKeys: undefined,
      staged: undefined,
      passOver: ({ code, context }) =>
        EXPLAINED_BY_KEYS.has(code) && kids.has(context.kid ?? ""),
    },
  });
  if (outcome.kind !== "failed") return failed(contradiction);
  return isFault(outcome.error)
    ? outcome
    : { ...outcome, error: contradiction };
}

async function agree(
  { loaded }: FeedRefresh,
  { keys, verification: { kids, events } }: FollowedFeed,
): Promise<void> {
  await requireAgreement(loaded.keys, keys, kids, events);
}

function reading({ loaded, refetchKeys, options }: FeedRefresh) {
  const { now, report, breathe, onEvent, createDigest, limits, workers } =
    options;
  return {
    staged: options.staged,
    onEvent,
    createDigest,
    limits,
    keys: loaded.keys,
    now,
    breathe,
    workers,
    maxFaults: report ? MAX_REPORTED_FAULTS : undefined,
    refreshKeys: refetchKeys,
  } satisfies FollowFeedOptions;
}

type OpenedFeed = Awaited<ReturnType<LoadedIssuer["openFeed"]>>;

function bounded(
  document: OpenedDocument,
  knownBytes: number,
  { allowance, onProgress }: RefreshOptions,
): OpenedDocument {
  if (allowance === undefined && onProgress === undefined) return document;
  const told = onProgress === undefined
    ? document.bytes
    : counted(document, onProgress);
  const bytes = allowance?.follow(told, knownBytes) ?? told;
  // Member by member: a spread would lose what a reader inherits.
  const { mediaType, etag, unchanged = false, length, range } = document;
  return {
    bytes,
    mediaType,
    etag,
    unchanged,
    length,
    ...(range === undefined ? {} : { range }),
    cancel: () => document.cancel(),
  };
}

async function* counted(
  { bytes, length }: OpenedDocument,
  onProgress: NonNullable<RefreshOptions["onProgress"]>,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of bytes) {
    onProgress(read += chunk.length, length);
    yield chunk;
  }
}

/** The failure of a feed that came as far as `verification`. */
function failed(
  error: unknown,
  { verification, warnings = [], sawDifference = false }: {
    readonly verification?: FeedVerification | undefined;
    readonly warnings?: readonly Warning[];
    readonly sawDifference?: boolean;
  } = {},
): FailedFeed {
  const { verifiedEvents = 0, faults = [] } = verification?.result() ?? {};
  return {
    kind: "failed",
    error,
    sawDifference,
    faults,
    verifiedEvents,
    warnings,
  };
}

function throwFaults(verification: FeedVerification): void {
  const [fault] = verification.result().faults;
  if (fault !== undefined) throw fault;
}
