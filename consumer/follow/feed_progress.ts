/** Digests a feed while it is read, and judges it at its end. @module */

import { quote } from "@sig/core/internal";
import { findContradiction, servedKeys } from "../memory/compare.ts";
import {
  type PinnedFeed,
  type PinnedProof,
  shortenKids,
  shortOrNull,
  storedKid,
} from "../memory/pin.ts";
import { introducedKeys, pinnedRecovery } from "../memory/compare_recovery.ts";
import { hashesOf, toRemember } from "./issuer_proofs.ts";
import {
  contradictionOf,
  type Copy,
  type FeedOutcome,
  type Reading,
  type RefreshOptions,
  timeOf,
  withoutPast,
} from "./reading.ts";
import type { Warning } from "@sig/core";

const SMALL_FEED_BYTES = 64 * 1024;

/**
 * Yields the bytes, reports progress, and waits before it reads a large feed.
 */
export async function* observed(
  bytes: AsyncIterable<Uint8Array>,
  length: number | undefined,
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

/**
 * Digests a feed while it is read.
 *
 * @param onPrefix Called with the SHA-256 of the first `until` bytes.
 */
async function* digested(
  { bytes, digest, at }: FeedToRead,
  until: number,
  onPrefix: (sha256: string) => void,
): AsyncGenerator<Uint8Array> {
  if (at === until) onPrefix(digest.hex());
  for await (const chunk of bytes) {
    const end = Math.max(0, until - at);
    for (const part of [chunk.subarray(0, end), chunk.subarray(end)]) {
      if (part.length === 0) continue;
      digest.update(part);
      at += part.length;
      if (at === until) onPrefix(digest.hex());
      yield part;
    }
  }
}

const LF = 0x0a;

/** Returns the number of complete lines. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === LF) count++;
  return count;
}

/** A verification, and the bytes of the feed that it has not read. */
export interface FeedToRead
  extends Pick<Copy, "verification" | "digest" | "comparedAt"> {
  /** Number of bytes that were verified, and digested, before. */
  readonly at: number;
  /** The bytes after those. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Size of a feed from its start, if the server states it. */
  readonly expectedBytes?: number | undefined;
  /** What the server says about the feed. */
  readonly label: Pick<Copy, "ref" | "etag" | "mediaType">;
  /** Warnings about how the feed is served. */
  readonly warnings: readonly Warning[];
}

/**
 * Verifies a feed to its end, and compares it with the pin.
 *
 * @throws {SigError} the faults of the feed, the errors of reading it, and
 * `proof_invalid` with a checkpoint policy.
 */
export async function readToEnd(
  reading: Reading,
  read: FeedToRead,
): Promise<FeedOutcome> {
  const { pin, keys, loaded, proofs, options, mirror } = reading;
  const { verification, digest, expectedBytes } = read;
  const { now, yieldToEventLoop, onEvent, workers } = options;
  const { tree } = verification;
  const { size = 0, seen } = pin?.proof ?? {};
  tree?.want([proofs.checkpoint?.size ?? 0, size, seen?.size ?? 0]);
  let prefixSha256: string | undefined;
  const bytes = digested(read, pin?.feed?.bytes ?? 0, (sha256) => {
    prefixSha256 = sha256;
  });
  const given = { now, yieldToEventLoop, onEvent, workers, expectedBytes };
  await verification.read(bytes, { ...given, keys: loaded.keys });
  const { events } = verification;
  const sha256 = digest.hex();
  const error = pin && findContradiction(pin, {
    keys,
    checkpoint: proofs.checkpoint,
    events,
    feed: { prefixSha256, firstDifference: mirror?.firstDifference },
    hashesAt: await hashesOf(tree, pin),
  });
  if (error !== undefined) {
    const served = { sequence: events, sha256, ...servedKeys(keys) };
    return contradictionOf(error, served, now);
  }
  const { checkpointPolicy: policy } = options;
  const proof = await toRemember(proofs, pin, { events, keys, tree }, policy);
  if (policy !== undefined && proofs.text && proofs.checkpoint) {
    options.onConfirmed?.(proofs.text, proofs.checkpoint);
  }
  tree?.endState();
  return await validFeed(reading, read, { sha256, proof });
}

async function validFeed(
  { pin, loaded, documents, keys: { published }, proofs, options }: Reading,
  { verification, digest, label, comparedAt, warnings }: FeedToRead,
  { sha256, proof }: {
    readonly sha256: string;
    readonly proof: PinnedProof | null;
  },
): Promise<FeedOutcome> {
  const { now } = options;
  const { public_only } = loaded.metadata;
  const result = verification.result();
  const { state, bytes } = result;
  const ofEvents = withoutPast(result.warnings, state, options);
  const kids = [...verification.kids];
  const feed: PinnedFeed = {
    sequence: verification.events,
    bytes,
    prefix_sha256: sha256,
    last_event_id: shortOrNull(verification.lastEventId),
    keys: await shortenKids(
      kids.map((kid) => [kid, published.get(kid) ?? ""]),
    ),
    etag: shortOrNull(label.etag),
    compared_at: timeOf(comparedAt),
    read_at: timeOf(now),
  };
  // Proofs introduce new keys; without them, a new key is only a warning.
  const isUnproven = pin?.proof === null && (pin.feed?.sequence ?? 0) > 0;
  const { known } = isUnproven
    ? introducedKeys(pin, loaded.recovery)
    : { known: undefined };
  const added = known ? kids.filter((kid) => !known.has(kid)) : [];
  const recovery = pinnedRecovery(loaded.recovery);
  const isAdded = recovery !== null && pin?.recovery === null;
  return {
    kind: "feed",
    at: timeOf(now),
    issuer: loaded.issuer,
    feed,
    proof,
    recovery,
    addedKids: await Promise.all(added.map(storedKid)),
    copy: {
      events: verification.events,
      sha256,
      observedAt: now,
      observedText: timeOf(now),
      ...label,
      bytes,
      overlap: verification.overlap,
      publicOnly: public_only,
      statements: recovery?.sha256 ?? null,
      recovery: loaded.recovery,
      comparedAt,
      documents,
      keys: loaded.keys,
      verification,
      digest,
      checkpoint: options.checkpointPolicy && proofs.checkpoint,
      heldBytes: bytes +
        Array.from(documents.values(), (each) => each.bytes.length)
          .reduce((a, b) => a + b, 0),
      continuity: pin === undefined ? "first_seen" : "consistent",
      verified: {
        issuer: loaded.issuer,
        source: loaded.source,
        state,
        feed: { ...result, sha256, warnings: ofEvents },
        warnings: [
          ...loaded.warnings,
          ...warnings,
          ...isAdded && pin.proof === null
            ? [{
              code: "recovery_added" as const,
              detail: "the issuer has a recovery key, for the first time",
            }]
            : [],
          ...added.map((kid) => ({
            code: "key_added" as const,
            detail: `key ${quote(kid)} has signed for the first time`,
          })),
          ...ofEvents,
        ],
      },
    },
  };
}
