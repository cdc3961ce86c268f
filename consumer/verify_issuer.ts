/** An issuer's documents and feed, verified together. @module */

import type { FeedState, SourceKind, Warning } from "@sig/core";
import { isFault } from "./fault.ts";
import {
  type IssuerLocation,
  type LoadedIssuer,
  loadIssuer,
  type LoadIssuerOptions,
} from "./load_issuer.ts";
import {
  type FeedPolicy,
  type VerifiedEvent,
  type VerifiedFeed,
  verifyFeed,
  type VerifyFeedOptions,
} from "./verify_feed.ts";
import {
  invalidReport,
  MAX_REPORTED_FAULTS,
  validReport,
  type VerifyReport,
} from "./verify_report.ts";

/** Options of {@linkcode verifyIssuer}. */
export interface VerifyIssuerOptions extends FeedPolicy, LoadIssuerOptions {
  /** The clock. */
  readonly now: Date;
  /** Told of each verified event, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /** Told how many bytes were read, now and then; for progress bars. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
  /** Awaited now and then while a feed is verified; see `verifyFeed`. */
  readonly breathe?: (() => Promise<void>) | undefined;
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

async function verifyLoaded(
  location: IssuerLocation,
  loaded: LoadedIssuer,
  options: VerifyIssuerOptions,
  forReport: Pick<VerifyFeedOptions, "maxFaults" | "digest"> = {},
): Promise<VerifiedIssuer> {
  const { document, warnings } = await loaded.openFeed();
  try {
    const feed = await verifyFeed(counted(document.bytes, options.onProgress), {
      issuer: loaded.issuer,
      keys: loaded.keys,
      publicOnly: loaded.metadata.public_only,
      now: options.now,
      limits: options.limits,
      unknownEvents: options.unknownEvents,
      unmatchedRevoke: options.unmatchedRevoke,
      ...forReport,
      onEvent: options.onEvent,
      breathe: options.breathe,
      refreshKeys: async () => (await loadIssuer(location, options)).keys,
    });
    return {
      issuer: loaded.issuer,
      source: location.reader.kind,
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
  onProgress: ((bytes: number) => void) | undefined,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of bytes) {
    read += chunk.length;
    onProgress?.(read);
    yield chunk;
  }
}

/**
 * Verifies everything that an issuer publishes and reports up to 100 faults.
 *
 * @throws {SigError} only for what could not be read or is over a limit of
 * ours: then it is not known whether the feed is valid.
 */
export async function reportIssuer(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifyReport> {
  const source = location.reader.kind;
  let loaded: LoadedIssuer | undefined;
  try {
    loaded = await loadIssuer(location, options);
    const verified = await verifyLoaded(
      location,
      loaded,
      options,
      { maxFaults: MAX_REPORTED_FAULTS, digest: true },
    );
    const { issuer, feed, warnings } = verified;
    return feed.faults.length === 0 ? validReport(verified) : invalidReport({
      faults: feed.faults,
      issuer,
      source,
      verifiedEvents: feed.verifiedEvents,
      warnings,
    });
  } catch (error) {
    if (!isFault(error)) throw error;
    return invalidReport({
      faults: [error],
      issuer: loaded?.issuer,
      source,
      warnings: loaded?.warnings,
    });
  }
}
