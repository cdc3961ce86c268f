/** Reads a feed from its first byte (docs/protocol.md §6.2). @module */

import { DEFAULT_LIMITS } from "@sig/core";
import { findContradiction, servedKeys } from "../memory/compare.ts";
import type { KnownPin } from "../memory/pin.ts";
import { feedTooLarge } from "../verify/feed_fault.ts";
import { FeedTree } from "../proofs/feed_tree.ts";
import { FeedVerification } from "../verify/feed_verification.ts";
import { createSha256For } from "../verify/verify_feed.ts";
import {
  countLines,
  type FeedToRead,
  observed,
  readToEnd,
} from "./feed_progress.ts";
import {
  contradictionOf,
  type FeedOutcome,
  type OpenedFeed,
  type Reading,
} from "./reading.ts";

/**
 * Verifies the feed from its first byte, and compares it with the pin.
 *
 * @throws {SigError} the faults of the feed, and the errors of reading it.
 */
export async function readFromStart(
  reading: Reading,
  { document, warnings }: OpenedFeed,
): Promise<FeedOutcome> {
  const { loaded, options, mirror } = reading;
  const { etag, mediaType, length, bytes } = document;
  const label = { ref: loaded.metadata.events_uri, etag, mediaType };
  try {
    return await readToEnd(reading, {
      ...startOf(reading, length, true),
      label,
      warnings,
      bytes: observed(
        mirror?.record(bytes, 0, label) ?? bytes,
        length,
        options,
      ),
      comparedAt: options.now,
    });
  } finally {
    await document.cancel();
  }
}

/**
 * Returns what a read from the first byte begins with.
 *
 * @param isCompared Whether the server sends all bytes. The state tree, which
 * takes a third of the time, is for comparisons.
 */
export function startOf(
  { pin, loaded, proofs, options }: Reading,
  expectedBytes: number | undefined,
  isCompared: boolean,
): Pick<FeedToRead, "verification" | "digest" | "at" | "expectedBytes"> {
  const isRemembered = (pin?.proof ?? null) !== null;
  const tree = proofs.files || isRemembered ? new FeedTree() : undefined;
  const needsState = isCompared || !isRemembered || options.checkpointPolicy;
  if (!needsState) tree?.endState();
  const verification = new FeedVerification({
    issuer: loaded.issuer,
    publicOnly: loaded.metadata.public_only,
    limits: options.limits,
    unknownEvents: options.unknownEvents,
    unmatchedRevoke: options.unmatchedRevoke,
    keepOnly: options.keepOnly,
    recovery: loaded.recovery,
    tree,
  });
  const digest = createSha256For(expectedBytes);
  return { verification, digest, at: 0, expectedBytes };
}

/**
 * Counts the lines of a feed whose documents contradict the pin. The feed can't
 * be verified, but the count shows whether it is also rolled back.
 */
export async function countFeed(
  { keys, proofs: { checkpoint }, options }: Reading,
  pin: KnownPin,
  { document }: OpenedFeed,
): Promise<FeedOutcome | undefined> {
  const { maxFeedBytes } = options.limits ?? DEFAULT_LIMITS;
  const digest = createSha256For();
  let bytes = 0;
  let events = 0;
  try {
    for await (const chunk of document.bytes) {
      digest.update(chunk);
      events += countLines(chunk);
      bytes += chunk.length;
      if (bytes > maxFeedBytes) throw feedTooLarge(maxFeedBytes);
    }
  } finally {
    await document.cancel();
  }
  const error = findContradiction(pin, { keys, checkpoint, events });
  const served = {
    sequence: events,
    sha256: digest.hex(),
    ...servedKeys(keys),
  };
  return error && contradictionOf(error, served, options.now);
}
