/**
 * Verifies an issuer's documents and its feed as a stream (docs/protocol.md
 * §2–§4).
 *
 * @module
 */

import {
  type AnswerProof,
  DEFAULT_LIMITS,
  type FeedState,
  isSigError,
  type SourceKind,
  type Warning,
} from "@sig/core";
import type * as crypto from "node:crypto";
import { loadBuiltin, Sha256State } from "@sig/jose/internal";
import { lacksKey } from "./feed_fault.ts";
import { FeedVerification } from "./feed_verification.ts";
import type {
  FeedPolicy,
  VerifiedFeed,
  VerifyFeedOptions,
} from "./verified_feed.ts";
import {
  type LoadedIssuer,
  loadIssuer,
  type LoadIssuerOptions,
} from "./load_issuer.ts";
import { IssuerDocuments, NO_DOCUMENTS } from "../read/issuer_documents.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { FetchPolicy, OpenedDocument } from "../fetch/fetch_options.ts";
import { openSource, parseSource } from "../read/source.ts";

/** A SHA-256 that is computed incrementally, and can be read before its end. */
export interface RunningHash {
  /** Adds the next bytes. */
  update(bytes: Uint8Array): unknown;
  /** Returns the digest of the bytes so far, in hexadecimal. */
  hex(): string;
}

/**
 * Size in bytes up to which `Sha256State` takes less time than loading
 * `node:crypto`, which is about ten times as fast then.
 */
const LARGE_FEED_BYTES = 1024 * 1024;

/** Creates the faster SHA-256 for a feed of that size (default: large). */
export function createSha256For(bytes = Infinity): RunningHash {
  if (bytes <= LARGE_FEED_BYTES) return new Sha256State();
  const node = loadBuiltin("node:crypto") as typeof crypto | undefined;
  const hash = node?.createHash?.("sha256");
  return hash === undefined ? new Sha256State() : {
    update: (bytes) => hash.update(bytes),
    hex: () => hash.copy().digest("hex"),
  };
}

/**
 * Verifies every line of a feed and replays it. Keeps one chunk in memory at a
 * time.
 *
 * @example An empty feed is valid
 * ```ts
 * import { verifyFeed } from "@sig/consumer";
 * import { createKeyResolver } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const verified = await verifyFeed([], {
 *   issuer: "did:web:acme.example",
 *   keys: await createKeyResolver({ keys: [] }),
 *   publicOnly: true,
 *   now: new Date("2026-01-01T00:00:00Z"),
 * });
 * assertEquals(verified.verifiedEvents, 0);
 * ```
 *
 * @throws {SigError} the first fault with its line, sequence and kid: the codes
 * of `parseFeedLine`, `verifyEnvelope`, `parseEventPayload` and `replay`, and
 * `incomplete_line`. With `maxFaults` only `feed_too_large`, `too_many_events`
 * and the errors of reading the bytes.
 */
export async function verifyFeed(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: VerifyFeedOptions,
): Promise<VerifiedFeed> {
  const verification = new FeedVerification(options);
  if (!options.digest) {
    await verification.read(bytes, options);
    return verification.result();
  }
  const digest = createSha256For(options.expectedBytes ?? 0);
  await verification.read(
    watched(bytes, (chunk) => digest.update(chunk)),
    options,
  );
  return { ...verification.result(), sha256: digest.hex() };
}

async function* watched(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    onChunk(chunk);
    yield chunk;
  }
}

/** The progress of a verification, in addition to the bytes read. */
export interface VerifyProgress {
  /** Number of events verified. */
  readonly events: number;
  /** Announced size of the feed in bytes, if known. */
  readonly totalBytes: number | undefined;
}

/** How an issuer's documents and feed are verified. */
export interface ReadingOptions
  extends
    FeedPolicy,
    LoadIssuerOptions,
    Pick<VerifyFeedOptions, "yieldToEventLoop" | "workers"> {
}

/** Options of {@linkcode verifyIssuer}. */
export interface VerifyIssuerOptions
  extends
    ReadingOptions,
    Pick<VerifyFeedOptions, "digest" | "keepOnly" | "now" | "onEvent"> {
  /** Called from time to time with the number of bytes read. */
  readonly onProgress?:
    | ((bytes: number, more: VerifyProgress) => void)
    | undefined;
}

/** An issuer whose documents and events were all verified. */
export interface VerifiedIssuer {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The kind of source of the documents. */
  readonly source: SourceKind;
  /** The state after the last event of the feed. */
  readonly state: FeedState;
  /** Number of events and bytes, keys and digest of the feed. */
  readonly feed: VerifiedFeed;
  /** Warnings about documents and feed. */
  readonly warnings: readonly Warning[];
  /** The proof, if only the lines of one subject were read. */
  readonly proof?: AnswerProof | null | undefined;
}

/**
 * Verifies all documents and the feed of an issuer, or throws the first fault.
 * It takes two round trips: the metadata, then everything else. If a key is
 * missing in the documents, a server is read a second time, unless events have
 * been passed to `onEvent`.
 *
 * @throws {SigError} as `loadIssuer` and `verifyFeed`.
 */
export async function verifyIssuer(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifiedIssuer> {
  try {
    return await verifyOnce(location, options);
  } catch (error) {
    const isTransient = location.reader.kind === "remote" &&
      options.onEvent === undefined && isSigError(error) && lacksKey(error);
    if (!isTransient) throw error;
    return await verifyOnce(location, options);
  }
}

async function verifyOnce(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<VerifiedIssuer> {
  const documents = new IssuerDocuments(location.reader, NO_DOCUMENTS);
  const { maxFeedBytes: maxBytes } = options.limits ?? DEFAULT_LIMITS;
  try {
    const loaded = await loadIssuer({ ...location, reader: documents }, {
      ...options,
      onMetadata({ events_uri }) {
        if (location.reader.kind === "local") return;
        documents.sendFeed(events_uri, { maxBytes });
      },
    });
    return await verifyLoaded(loaded, options);
  } finally {
    await documents.end();
  }
}

/**
 * Verifies the feed of a loaded issuer.
 *
 * @throws {SigError} as `verifyFeed`.
 */
export async function verifyLoaded(
  loaded: LoadedIssuer,
  options: VerifyIssuerOptions & Pick<VerifyFeedOptions, "maxFaults">,
): Promise<VerifiedIssuer> {
  const { document, warnings } = await loaded.openFeed();
  const { onEvent, onProgress } = options;
  let events = 0;
  let bytes = 0;
  const counted = watched(document.bytes, ({ length }) => {
    bytes += length;
    onProgress?.(bytes, { events, totalBytes: document.length });
  });
  try {
    const feed = await verifyFeed(counted, {
      ...options,
      issuer: loaded.issuer,
      keys: loaded.keys,
      recovery: loaded.recovery,
      publicOnly: loaded.metadata.public_only,
      onEvent: onProgress === undefined ? onEvent : (verified) => {
        events++;
        onEvent?.(verified);
      },
      expectedBytes: document.length,
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

/** An opened feed. Read or cancel `document`. */
export interface FetchedFeed {
  /** The issuer, whose documents were checked. */
  readonly issuer: LoadedIssuer;
  /** The bytes of the feed, for `verifyFeed`. */
  readonly document: OpenedDocument;
  /** Warnings about the documents and the feed's media type. */
  readonly warnings: readonly Warning[];
}

/**
 * Loads an issuer's documents and opens its feed without verifying it, for
 * callers that need the bytes. Otherwise use `verifyIssuer`.
 *
 * @example
 * ```ts ignore
 * import { fetchFeed, verifyFeed } from "@sig/consumer";
 *
 * const { issuer, document } = await fetchFeed("did:web:acme.example");
 * const { state } = await verifyFeed(document.bytes, {
 *   issuer: issuer.issuer,
 *   keys: issuer.keys,
 *   publicOnly: issuer.metadata.public_only,
 *   now: new Date(),
 * });
 * console.log(state.last_sequence);
 * ```
 *
 * @throws {SigError} as `parseSource`, `openSource` and `loadIssuer`.
 */
export async function fetchFeed(
  source: string,
  options: FetchPolicy & LoadIssuerOptions = {},
): Promise<FetchedFeed> {
  const location = openSource(parseSource(source, options), options);
  const issuer = await loadIssuer(location, options);
  const { document, warnings } = await issuer.openFeed();
  return { issuer, document, warnings: [...issuer.warnings, ...warnings] };
}
