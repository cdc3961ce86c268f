/**
 * Reads an issuer's feed by the way that its pin and its copy allow
 * (docs/protocol.md §6).
 *
 * In: where the issuer is, its pin, and the feed that is known, of this process
 * or on disk. Out: a `FeedOutcome` (a feed that continues the pin, a
 * contradiction, a fault, or unreachable), which `refresh_issuer.ts` writes.
 * From `readFeed`, which repeats a read, to `attemptFeed`, which makes one.
 *
 * @module
 */

import { DEFAULT_LIMITS, isSigError, type SigMetadata } from "@sig/core";
import type { FetchConditions } from "../fetch/fetch_options.ts";
import { hasNewStatement } from "../memory/compare_recovery.ts";
import type { Mirror } from "../memory/mirror.ts";
import type { Pin } from "../memory/pin.ts";
import { IssuerDocuments, NO_DOCUMENTS } from "../read/issuer_documents.ts";
import type { IssuerLocation } from "../read/reader.ts";
import { lacksKey } from "../verify/feed_fault.ts";
import { needStart, openIssuer } from "./issuer_proofs.ts";
import {
  conditionsToContinue,
  type KnownFeed,
  type OpenFeed,
  readContinued,
} from "./read_continued.ts";
import { countFeed, readFromStart } from "./read_from_start.ts";
import {
  contradictionOf,
  type Copy,
  type FeedOutcome,
  type Reading,
  readTwiceIfTransient,
  type RefreshOptions,
} from "./reading.ts";

/** Maximum time between two comparisons of a feed from its first byte. */
const COMPARE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Minimum time between two repetitions because of unknown keys. */
const REPEAT_AFTER_MS = 30 * 1000;

/**
 * Returns whether less than `limitMs` have passed since `from`. Returns false
 * if `from` is in the future: a clock that was set back must not keep anything
 * valid indefinitely.
 */
function isWithin(limitMs: number, from: Date, now: Date): boolean {
  const elapsedMs = now.getTime() - from.getTime();
  return elapsedMs >= 0 && elapsedMs < limitMs;
}

/** What a read starts from. */
export interface Start {
  readonly pin: Pin;
  readonly copy?: Copy | undefined;
  /** When a read was last repeated because of unknown keys. */
  readonly repeatedAt?: Date | undefined;
}

/**
 * Fetches and verifies the documents and the feed of an issuer, and compares
 * them with its pin.
 *
 * - All documents are verified at each read, including those that are unchanged
 *   (304).
 * - Keys are checked before the feed: if a key that signed remembered events
 *   was replaced or withdrawn, that is a contradiction regardless of the feed.
 * - A read that finds a key that is not in the documents is repeated once, since
 *   the key may have been published meanwhile.
 *
 * @throws any error that is not the issuer's, such as that of `onEvent`.
 */
export async function readFeed(
  location: IssuerLocation,
  start: Start,
  options: RefreshOptions,
): Promise<FeedRead> {
  const { pin, repeatedAt: before } = start;
  const { now } = options;
  let repeatedAt = before;
  let mirror: Mirror | undefined;
  const found = await readTwiceIfTransient<FeedOutcome>(
    async (isRepeated) => {
      if (isRepeated) {
        mirror?.close();
        repeatedAt = now;
        options.onAttempt?.();
      }
      mirror = await openMirror(location, pin, options);
      return await attemptFeed(location, start, options, mirror);
    },
    // Keys may have been added after the documents were read.
    (first) =>
      first.kind === "fault" && lacksKey(first.error) &&
      !(before !== undefined && isWithin(REPEAT_AFTER_MS, before, now)),
  );
  return { found, mirror, repeatedAt };
}

/** The outcome of a read, and the mirror to keep once the pin is written. */
interface FeedRead extends Pick<Start, "repeatedAt"> {
  readonly found: FeedOutcome;
  /** The caller closes it. */
  readonly mirror: Mirror | undefined;
}

/**
 * Opens the mirror of an issuer. It is not used for the comparison from the
 * first byte.
 */
async function openMirror(
  location: IssuerLocation,
  pin: Pin,
  options: RefreshOptions,
): Promise<Mirror | undefined> {
  const { mirrorFolder: folder } = options;
  if (folder === undefined || location.reader.kind !== "remote") {
    return undefined;
  }
  // Only commands have a folder: other programs don't load its code.
  const { Mirror } = await import("../memory/mirror.ts");
  const { feed: pinned } = pin.status === "unknown" ? { feed: null } : pin;
  const feed = pinned === null ? undefined : {
    bytes: pinned.bytes,
    sha256: pinned.prefix_sha256,
    comparedAt: new Date(pinned.compared_at),
  };
  return await Mirror.open(location.metadataRef, {
    folder,
    feed,
    useCopy: feed !== undefined && mayContinue(pin, feed.comparedAt, options),
  });
}

async function attemptFeed(
  location: IssuerLocation,
  { pin: stored, copy: held }: Start,
  options: RefreshOptions,
  mirror: Mirror | undefined,
): Promise<FeedOutcome> {
  const copy = copyToContinue(stored, held, options);
  const { limits = DEFAULT_LIMITS } = options;
  const documents = new IssuerDocuments(
    location.reader,
    copy?.documents ?? mirror?.documents ?? NO_DOCUMENTS,
  );
  let sawOtherBytes = false;
  let known: KnownFeed | undefined;
  const onMetadata = (metadata: SigMetadata) => {
    known = copy !== undefined && isCopyOf(copy, metadata)
      ? copy
      : mirror?.feedAt(metadata.events_uri);
    if (location.reader.kind === "local") return;
    documents.sendFeed(metadata.events_uri, {
      maxBytes: limits.maxFeedBytes,
      conditions: known && conditionsToContinue(known),
    });
  };
  try {
    const { error, ...opened } = await openIssuer(
      { ...location, reader: documents },
      stored,
      { ...options, knownKeys: held?.keys.keys, onMetadata },
    );
    const { pin, loaded, proofs } = opened;
    sawOtherBytes = hasNewStatement(stored, loaded.recovery);
    const { documents: read } = documents;
    const reading = { ...opened, documents: read, options, mirror };
    const open = (conditions?: FetchConditions) => loaded.openFeed(conditions);
    if (pin !== undefined && error !== undefined) {
      const found = contradictionOf(error, null, options.now);
      // The contradiction remains if the feed can't be read.
      return await open().then((feed) => countFeed(reading, pin, feed))
        .catch(() => found) ?? found;
    }
    const needsStart = known !== undefined && "verification" in known &&
      needStart(proofs, pin, known.verification.tree, options.checkpointPolicy);
    if (known !== undefined && !needsStart) {
      const found = await continueKnown(reading, known, open);
      if (typeof found !== "string") return found;
      if (found === "other_bytes") sawOtherBytes = true;
      options.onAttempt?.();
    }
    return await readFromStart(reading, await open());
  } catch (error) {
    if (!isSigError(error)) throw error;
    // A connection that breaks must not hide other bytes or a new statement.
    const isUnreachable = error.category === "unavailable" &&
      !sawOtherBytes && !mirror?.sawDifference();
    return { kind: isUnreachable ? "unreachable" : "fault", error };
  } finally {
    await documents.end();
  }
}

/**
 * Continues a known feed. Returns `damaged` if the copy on disk has changed
 * while it was read: whatever was found is then not the issuer's.
 */
async function continueKnown(
  reading: Reading,
  known: KnownFeed,
  open: OpenFeed,
): Promise<FeedOutcome | "other_bytes" | "damaged"> {
  const isDamaged = () =>
    "pieces" in known && (reading.mirror?.dropIfChanged() ?? false);
  try {
    const found = await readContinued(reading, known, open);
    const isFeed = found !== "other_bytes" && found.kind === "feed";
    return !isFeed && isDamaged() ? "damaged" : found;
  } catch (error) {
    if (isDamaged()) return "damaged";
    throw error;
  }
}

/** Returns the copy if the pin allows to continue it. */
function copyToContinue(
  pin: Pin,
  copy: Copy | undefined,
  options: RefreshOptions,
): Copy | undefined {
  if (copy === undefined || pin.status === "unknown") return undefined;
  const { verification, comparedAt, events, bytes } = copy;
  const isUsable = mayContinue(pin, comparedAt, options) &&
    // A read that failed may have applied events that are not used.
    verification.isIntact && verification.events === events &&
    bytes <= (pin.feed?.bytes ?? 0);
  return isUsable ? copy : undefined;
}

/** Returns whether a known feed may be continued: of a process, or on disk. */
function mayContinue(
  pin: Pin,
  comparedAt: Date,
  { full = false, now }: RefreshOptions,
): boolean {
  return pin.status === "remembered" && !full &&
    isWithin(COMPARE_AFTER_MS, comparedAt, now);
}

/** A change of the metadata may apply to all events. */
function isCopyOf(copy: Copy, metadata: SigMetadata): boolean {
  return copy.ref === metadata.events_uri &&
    copy.publicOnly === metadata.public_only &&
    JSON.stringify(copy.recovery?.member) === JSON.stringify(metadata.recovery);
}
