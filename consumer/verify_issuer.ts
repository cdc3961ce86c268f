/** An issuer's documents and feed, verified together. @module */

import type { FeedState, SigError, SourceKind, Warning } from "@sig/core";
import {
  type IssuerLocation,
  type LoadedIssuer,
  loadIssuer,
  type LoadIssuerOptions,
} from "./load_issuer.ts";
import {
  type FeedPolicy,
  isFault,
  type KeyUse,
  type VerifiedEvent,
  type VerifiedFeed,
  verifyFeed,
  type VerifyFeedOptions,
} from "./verify_feed.ts";

/** Options of {@linkcode verifyIssuer}. */
export interface VerifyIssuerOptions extends FeedPolicy, LoadIssuerOptions {
  /** The clock. */
  readonly now: Date;
  /** Told of each verified event, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /** Told how many bytes were read, now and then; for progress bars. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
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

/** One fault in a {@linkcode VerifyReport}. */
export interface ReportedFault {
  /** The stable code. */
  readonly code: string;
  /** In words. */
  readonly detail: string;
  /** The event, if it is about one. */
  readonly sequence?: number;
  /** The line of the feed, if it is about one. */
  readonly line?: number;
  /** The key, if it is about one. */
  readonly kid?: string;
  /** The field, if it is about one. */
  readonly pointer?: string;
}

/** A report on a feed that is valid. */
export interface ValidReport {
  /** Every signature and rule holds. */
  readonly valid: true;
  /** The issuer's DID. */
  readonly issuer: string;
  /** Where the bytes came from. */
  readonly source: SourceKind;
  /** How many events. */
  readonly verified_events: number;
  /** Sequence of the last event. */
  readonly last_sequence: number;
  /** SHA-256 of the feed's bytes, hexadecimal. */
  readonly feed_sha256: string;
  /** The keys that signed. */
  readonly keys: readonly KeyUse[];
  /** What was odd. */
  readonly warnings: readonly Warning[];
}

/** A report on documents that were read and found faulty. */
export interface InvalidReport {
  /** Something that was published is wrong. */
  readonly valid: false;
  /** The faults, up to 100, in the order of the feed. */
  readonly errors: readonly ReportedFault[];
  /** The issuer's DID, null when one of its documents is at fault. */
  readonly issuer: string | null;
  /** Where the bytes came from. */
  readonly source: SourceKind;
  /** Events that did verify; none of them may be relied upon. */
  readonly verified_events: number;
  /** What was odd. */
  readonly warnings: readonly Warning[];
}

/** The result of `sig verify` and `/v1/verify`. */
export type VerifyReport = ValidReport | InvalidReport;

/** Faults in one report. */
const MAX_REPORTED_FAULTS = 100;

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
    const { feed, state, warnings, issuer } = await verifyLoaded(
      location,
      loaded,
      options,
      { maxFaults: MAX_REPORTED_FAULTS, digest: true },
    );
    if (feed.faults.length > 0) {
      return {
        valid: false,
        errors: feed.faults.map(reportedFault),
        issuer,
        source,
        verified_events: feed.verifiedEvents,
        warnings,
      };
    }
    return {
      valid: true,
      issuer,
      source,
      verified_events: feed.verifiedEvents,
      last_sequence: state.last_sequence,
      feed_sha256: feed.sha256!,
      keys: feed.keys,
      warnings,
    };
  } catch (error) {
    if (!isFault(error)) throw error;
    return {
      valid: false,
      errors: [reportedFault(error)],
      issuer: loaded?.issuer ?? null,
      source,
      verified_events: 0,
      warnings: loaded?.warnings ?? [],
    };
  }
}

function reportedFault({ code, message, context }: SigError): ReportedFault {
  const { sequence, line, kid, pointer } = context;
  return {
    code,
    detail: message,
    ...(sequence === undefined ? {} : { sequence }),
    ...(line === undefined ? {} : { line }),
    ...(kid === undefined ? {} : { kid }),
    ...(pointer === undefined || pointer === "" ? {} : { pointer }),
  };
}
