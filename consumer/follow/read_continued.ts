/** Continues a feed that is known (docs/protocol.md §6.3). @module */

import { isSigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { FetchConditions } from "../fetch/fetch_options.ts";
import { checkMediaType } from "../fetch/response_rules.ts";
import type { MirroredFeed } from "../memory/mirror.ts";
import { ByteStream } from "../read/byte_stream.ts";
import { createSha256For } from "../verify/verify_feed.ts";
import { countLines, observed, readToEnd } from "./feed_progress.ts";
import { readFromStart, startOf } from "./read_from_start.ts";
import type { Copy, FeedOutcome, OpenedFeed, Reading } from "./reading.ts";

/**
 * A tail up to this size is read completely before anything is verified. A
 * broken connection, or a feed that is being written, then does not force
 * verification from the start; verifying a copy on disk may take longer than a
 * server waits.
 */
const MAX_TAKEN_BYTES = 1024 * 1024;

/** Number of bytes digested between two turns of the event loop. */
const BYTES_PER_TURN = 1024 * 1024;

const LF = 0x0a;

/**
 * The feed of this process, whose events are verified; or the feed on disk,
 * which is verified from its first byte.
 */
export type KnownFeed = Copy | MirroredFeed;

/** Opens the feed, under conditions. */
export type OpenFeed = (conditions?: FetchConditions) => Promise<OpenedFeed>;

/** Returns the conditions of a request for what follows a known feed. */
export function conditionsToContinue(
  { etag, bytes, overlap }: KnownFeed,
): FetchConditions {
  return {
    ...(etag === null ? {} : { ifNoneMatch: etag }),
    ...(bytes > 0 ? { range: { from: bytes - overlap.length } } : {}),
  };
}

/**
 * Continues a known feed: its bytes are compared with what is served, by the
 * overlap of a tail or by the digest of a whole feed. Only what follows is
 * fetched, or verified.
 *
 * @returns `other_bytes` if the known bytes are not there, which alone proves
 * nothing.
 * @throws {SigError} the faults of the feed, and the errors of reading it.
 */
export async function readContinued(
  reading: Reading,
  known: KnownFeed,
  open: OpenFeed,
): Promise<FeedOutcome | "other_bytes"> {
  for (const conditions of [conditionsToContinue(known), undefined]) {
    const opened = await openTail(open, conditions);
    if (opened === undefined) return "other_bytes";
    const found = await readResponse(reading, known, opened);
    if (found !== "other_tag") return found;
  }
  return "other_bytes";
}

/** Returns undefined if the feed ends before the known bytes. */
async function openTail(
  open: OpenFeed,
  conditions: FetchConditions | undefined,
): Promise<OpenedFeed | undefined> {
  try {
    return await open(conditions);
  } catch (error) {
    if (isSigError(error, "fetch_status") && error.context.status === 416) {
      return undefined;
    }
    // A server without ranges does not contradict the pin.
    if (isSigError(error, "fetch_failed") && error.context.kind === "range") {
      return await open();
    }
    throw error;
  }
}

/**
 * Returns `other_tag` for a feed with another entity tag and without a new
 * event, which may have changed before the tail, and for an unchanged feed
 * although more was seen: without its tag, all of it is sent.
 */
async function readResponse(
  reading: Reading,
  known: KnownFeed,
  opened: OpenedFeed,
): Promise<FeedOutcome | "other_bytes" | "other_tag"> {
  const { pin, loaded, options, mirror } = reading;
  const { document } = opened;
  const { range, unchanged = false } = document;
  const copy = "verification" in known ? known : undefined;
  const isTail = unchanged || range !== undefined;
  if (copy === undefined && !isTail) {
    return await readFromStart(reading, opened);
  }
  const isOfPin = known.sha256 === pin?.feed?.prefix_sha256;
  // Only the feed itself shows that it lacks events that were seen by proof.
  if (
    unchanged && pin && (pin.proof?.seen.size ?? 0) > (pin.feed?.sequence ?? 0)
  ) {
    return "other_tag";
  }
  const stream = new ByteStream(
    copy === undefined
      ? document.bytes
      : observed(document.bytes, document.length, options),
  );
  try {
    const isSame = unchanged
      // Otherwise another process has seen more events, or accepted a different
      // history.
      ? isOfPin
      : range === undefined
      ? await hasPrefix(stream, known, options.yieldToEventLoop)
      : sameBytes(await stream.take(known.overlap.length), known.overlap);
    if (!isSame) return "other_bytes";
    const first = await stream.take(MAX_TAKEN_BYTES);
    const isNew = first.length > 0;
    const isCutOff = isNew && first.length < MAX_TAKEN_BYTES &&
      first.at(-1) !== LF;
    if (copy !== undefined && isCutOff) {
      throw copy.verification.incompleteLineAfter(countLines(first));
    }
    const { etag, mediaType } = unchanged ? known : document;
    if (range !== undefined && !isNew && etag !== known.etag) {
      return "other_tag";
    }
    const label = { ref: loaded.metadata.events_uri, etag, mediaType };
    const warning = checkMediaType("feed", mediaType);
    const served = chain([first], stream.rest());
    const rest = unchanged || mirror === undefined
      ? served
      : mirror.record(served, known.bytes, label);
    const size = range?.total ?? known.bytes;
    const found = await readToEnd(reading, {
      ...("pieces" in known
        ? {
          ...startOf(reading, size, false),
          bytes: observed(chain(known.pieces(), rest), size, options),
        }
        : { ...known, at: known.bytes, bytes: rest }),
      label,
      warnings: warning === undefined ? [] : [warning],
      comparedAt: isTail ? known.comparedAt : options.now,
    });
    // The copy may be of a history that was replaced.
    return found.kind === "contradiction" && !isOfPin ? "other_bytes" : found;
  } finally {
    await stream.close();
    await document.cancel();
  }
}

/** Reads as many bytes as are known; returns whether they are the known ones. */
async function hasPrefix(
  stream: ByteStream,
  { bytes, sha256 }: KnownFeed,
  yieldToEventLoop: (() => Promise<void>) | undefined,
): Promise<boolean> {
  const digest = createSha256For();
  let left = bytes;
  let sinceTurn = 0;
  while (left > 0) {
    const chunk = await stream.next(left);
    if (chunk === undefined) return false;
    digest.update(chunk);
    left -= chunk.length;
    sinceTurn += chunk.length;
    if (yieldToEventLoop !== undefined && sinceTurn >= BYTES_PER_TURN) {
      sinceTurn = 0;
      await yieldToEventLoop();
    }
  }
  return digest.hex() === sha256;
}

async function* chain(
  first: Iterable<Uint8Array>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
}
