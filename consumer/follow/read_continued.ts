/** Continues the feed of this process (docs/protocol.md §6.3). @module */

import { isSigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { FetchConditions } from "../fetch/fetch_options.ts";
import { ByteStream } from "../read/byte_stream.ts";
import { createFastSha256, type RunningHash } from "../verify/verify_feed.ts";
import { countLines, observed, readToEnd } from "./feed_progress.ts";
import type { Copy, FeedOutcome, OpenedFeed, Reading } from "./reading.ts";

/**
 * A tail up to this size is read completely before it is verified. A broken
 * connection, or a feed that is being written, then does not force verification
 * from the start.
 */
const MAX_TAKEN_BYTES = 1024 * 1024;

/** Number of bytes digested between two turns of the event loop. */
const BYTES_PER_TURN = 1024 * 1024;

const LF = 0x0a;

/** Returns the conditions of a request for what follows a copy. */
export function conditionsToContinue(
  { etag, bytes, verification: { overlap } }: Copy,
): FetchConditions {
  return {
    ...(etag === null ? {} : { ifNoneMatch: etag }),
    ...(bytes > 0 ? { range: { from: bytes - overlap.length } } : {}),
  };
}

/**
 * Continues the copy of this process: the known bytes are compared, by the
 * overlap of a tail or by the digest of a whole feed, and only new events are
 * verified.
 *
 * @param open Opens the feed with these conditions.
 * @returns `other_bytes` if the known bytes are not there, which alone proves
 * nothing.
 * @throws {SigError} the faults of the tail, and the errors of reading it.
 */
export async function readContinued(
  reading: Reading,
  copy: Copy,
  open: (conditions?: FetchConditions) => Promise<OpenedFeed>,
): Promise<FeedOutcome | "other_bytes"> {
  const opened = await openTail(copy, open);
  if (opened === undefined) return "other_bytes";
  const found = await readResponse(reading, copy, opened);
  if (found !== "other_tag") return found;
  // Another entity tag without a new event: the feed may have changed before
  // the tail.
  const whole = await readResponse(reading, copy, await open(), true);
  return whole === "other_tag" ? "other_bytes" : whole;
}

/** Returns undefined if the feed ends before the known bytes. */
async function openTail(
  copy: Copy,
  open: (conditions?: FetchConditions) => Promise<OpenedFeed>,
): Promise<OpenedFeed | undefined> {
  try {
    return await open(conditionsToContinue(copy));
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

async function readResponse(
  reading: Reading,
  copy: Copy,
  { document, warnings }: OpenedFeed,
  isWhole = false,
): Promise<FeedOutcome | "other_bytes" | "other_tag"> {
  const { pin, options } = reading;
  const { verification } = copy;
  const { range, etag, unchanged = false } = document;
  const isOfPin = copy.sha256 === pin?.feed?.prefix_sha256;
  const stream = new ByteStream(observed(document, options));
  try {
    const digest = unchanged
      // Otherwise another process has seen more events, or accepted a different
      // history.
      ? isOfPin ? copy.digest : undefined
      : range === undefined
      ? await digestPrefix(stream, copy, options.yieldToEventLoop)
      : await compareOverlap(stream, copy);
    if (digest === undefined) return "other_bytes";
    const first = await stream.take(MAX_TAKEN_BYTES);
    const isCutOff = first.length > 0 && first.length < MAX_TAKEN_BYTES &&
      first.at(-1) !== LF;
    if (isCutOff) throw verification.incompleteLineAfter(countLines(first));
    const hasOtherTag = range !== undefined && etag !== copy.etag;
    if (hasOtherTag && first.length === 0 && !isWhole) return "other_tag";
    const found = await readToEnd(reading, {
      verification,
      digest,
      at: copy.bytes,
      bytes: first.length > 0 ? chain(first, stream) : undefined,
      etag: unchanged ? copy.etag : etag,
      comparedAt: unchanged || range !== undefined
        ? copy.comparedAt
        : options.now,
      warnings,
    });
    // The copy may be of a history that was replaced.
    return found.kind === "contradiction" && !isOfPin ? "other_bytes" : found;
  } finally {
    await stream.close();
    await document.cancel();
  }
}

/** Reads the known bytes; returns their digest, or undefined if they differ. */
async function digestPrefix(
  stream: ByteStream,
  { bytes, sha256 }: Copy,
  yieldToEventLoop: (() => Promise<void>) | undefined,
): Promise<RunningHash | undefined> {
  const digest = createFastSha256();
  let left = bytes;
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
  return digest.hex() === sha256 ? digest : undefined;
}

async function compareOverlap(
  stream: ByteStream,
  { verification: { overlap }, digest }: Copy,
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
