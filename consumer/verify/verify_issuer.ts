/** An issuer's documents and feed, verified together. @module */

import type { FeedState, SourceKind, Warning } from "@sig/core";
import {
  type LoadedIssuer,
  loadIssuer,
  type LoadIssuerOptions,
} from "./load_issuer.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { SignatureWorkers } from "./signature_workers.ts";
import type {
  FeedPolicy,
  VerifiedEvent,
  VerifiedFeed,
  VerifyFeedOptions,
} from "./verified_feed.ts";
import { verifyFeed } from "./verify_feed.ts";

/** How far a verification has come, beside the bytes that were read. */
export interface VerifyProgress {
  /** Events verified. */
  readonly events: number;
  /** Bytes that the feed is said to have, if that is told. */
  readonly totalBytes: number | undefined;
}

/** Options of {@linkcode verifyIssuer}. */
export interface VerifyIssuerOptions extends FeedPolicy, LoadIssuerOptions {
  /** The clock. */
  readonly now: Date;
  /** Told of each verified event, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /** Told how many bytes of the feed were read, now and then. */
  readonly onProgress?:
    | ((bytes: number, more: VerifyProgress) => void)
    | undefined;
  /** Tells `feed.sha256` as well. */
  readonly digest?: boolean | undefined;
  /** Awaited now and then while a feed is verified; see `verifyFeed`. */
  readonly breathe?: (() => Promise<void>) | undefined;
  /** As in `verifyFeed`: workers of its own unless told. */
  readonly workers?: SignatureWorkers | undefined;
}

/** An issuer whose every document and event was verified. */
export interface VerifiedIssuer {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Where the bytes came from. */
  readonly source: SourceKind;
  /** What the feed says. */
  readonly state: FeedState;
  /** The feed's figures. */
  readonly feed: VerifiedFeed;
  /** What was odd, in documents and feed. */
  readonly warnings: readonly Warning[];
}

/**
 * Verifies everything that an issuer publishes, or throws at the first fault.
 *
 * @throws {SigError} as `loadIssuer` and `verifyFeed`.
 */
export async function verifyIssuer(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifiedIssuer> {
  const loaded = await loadIssuer(location, options);
  return await verifyLoaded(location, loaded, options);
}

/**
 * The feed's part of {@linkcode verifyIssuer}.
 *
 * @param told Faults may be collected instead of thrown, and of the state only
 * what the caller needs be kept.
 * @throws {SigError} as `verifyFeed`.
 */
export async function verifyLoaded(
  location: IssuerLocation,
  loaded: LoadedIssuer,
  options: VerifyIssuerOptions,
  told: Pick<VerifyFeedOptions, "maxFaults" | "digest" | "keepOnly"> = {},
): Promise<VerifiedIssuer> {
  const { document, warnings } = await loaded.openFeed();
  const { onEvent, onProgress } = options;
  let events = 0;
  const onBytes = (bytes: number) =>
    onProgress?.(bytes, { events, totalBytes: document.length });
  try {
    const feed = await verifyFeed(counted(document.bytes, onBytes), {
      issuer: loaded.issuer,
      keys: loaded.keys,
      publicOnly: loaded.metadata.public_only,
      now: options.now,
      limits: options.limits,
      unknownEvents: options.unknownEvents,
      unmatchedRevoke: options.unmatchedRevoke,
      digest: options.digest,
      ...told,
      onEvent: onProgress === undefined ? onEvent : (verified) => {
        events++;
        onEvent?.(verified);
      },
      breathe: options.breathe,
      workers: options.workers,
      expectedBytes: document.length,
      refreshKeys: async () => (await loadIssuer(location, options)).keys,
    });
    return {
      issuer: loaded.issuer,
      source: loaded.source,
      state: feed.state,
      feed,
      warnings: [...loaded.warnings, ...warnings, ...feed.warnings],
    };
  } finally {
    await document.cancel();
  }
}

async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of bytes) {
    read += chunk.length;
    onBytes(read);
    yield chunk;
  }
}
