/** Documents from servers and values, as bytes; judges nothing about their meaning. @module */

import {
  isSigError,
  SigError,
  type SigMetadata,
  type SourceKind,
} from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import type {
  FetchConditions,
  FetchPolicy,
  OpenedDocument,
} from "../fetch/fetch_options.ts";
import { ACCEPT, type DocumentName } from "../fetch/media_type.ts";
import { guardedFetch } from "../fetch/guarded_fetch.ts";

/** Options of {@linkcode DocumentReader.open}. */
export interface OpenOptions {
  /** Which document it is: decides codes and expected media types. */
  readonly name: DocumentName;
  /** More bytes than these are an error. */
  readonly maxBytes: number;
  /** What to ask beyond the plain document; a reader may ignore it. */
  readonly conditions?: FetchConditions | undefined;
  /** Stops what was begun; a reader that is done at once may ignore it. */
  readonly signal?: AbortSignal | undefined;
}

/** Bytes of a piece: what is done with one takes little time. */
const PIECE_BYTES = 64 * 1024;

/** Gets bytes; judges nothing about their meaning. */
export interface DocumentReader {
  /** How the documents are read; `sourceOf` says what an answer calls it. */
  readonly kind: "local" | "remote" | "inline";
  /**
   * Opens a document by its reference in the metadata (an absolute URL).
   *
   * @throws {SigError} `document_too_large`, or `feed_too_large` for the feed,
   * and the errors of getting it; {@linkcode isMissing} recognises absence.
   */
  open(ref: string, options: OpenOptions): Promise<OpenedDocument>;
}

/** Where an issuer's documents are, and which issuer must publish there. */
export interface IssuerLocation {
  /** Gets the bytes. */
  readonly reader: DocumentReader;
  /** The reference of `sig.json`. */
  readonly metadataRef: string;
  /** The DID that the origin proves; undefined for local and inline ones. */
  readonly expectedIssuer?: string | undefined;
}

/**
 * What an answer calls its source (docs/protocol.md §1): `http` as soon as one of the
 * documents came without TLS, since nothing proves the origin then.
 */
export function sourceOf(
  { reader, metadataRef }: IssuerLocation,
  metadata?: Pick<SigMetadata, "jwks_uri" | "events_uri">,
): SourceKind {
  if (reader.kind !== "remote") return reader.kind;
  const urls = [metadataRef, metadata?.jwks_uri, metadata?.events_uri];
  return urls.some((url) => url?.startsWith("http:")) ? "http" : "https";
}

/** Bytes that are at hand, in pieces as they come from a file or a server. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** A document whose bytes are at hand. */
export function documentAtHand(
  { bytes, mediaType, etag }: Pick<OpenedDocument, "mediaType" | "etag"> & {
    readonly bytes: Uint8Array;
  },
): OpenedDocument {
  return { bytes: inPieces(bytes), mediaType, etag, cancel() {} };
}

/** The code of a document over its limit. */
export function tooLargeCode(
  name: DocumentName,
): "document_too_large" | "feed_too_large" {
  return name === "feed" ? "feed_too_large" : "document_too_large";
}

/**
 * Whether an error of {@linkcode DocumentReader.open} says that the document is
 * not there at all: 404, 410, no such file. Everything else (no permission, a
 * folder in its place, a server in trouble) must not pass for absence, or
 * an attacker who causes it could switch a check off. (docs/protocol.md §1)
 *
 * @example
 * ```ts
 * import { isMissing } from "./reader.ts";
 * import { SigError } from "@sig/core";
 * import { assert } from "@std/assert";
 *
 * const gone = new SigError("fetch_status", "Cannot fetch: status 410", {
 *   context: { status: 410 },
 * });
 * assert(isMissing(gone));
 * assert(!isMissing(new SigError("fetch_timeout", "Cannot fetch: time out")));
 * ```
 */
export function isMissing(error: unknown): boolean {
  if (isSigError(error, "fetch_status")) {
    return error.context.status === 404 || error.context.status === 410;
  }
  return isSigError(error, "source_not_found") &&
    error.context.reason === "missing";
}

/**
 * Reads a whole small document into memory.
 *
 * @param maxBytes Bytes at most: a second check after the reader's own limit.
 * @throws {SigError} `document_too_large`, and whatever the reader throws.
 */
export async function readAll(
  doc: OpenedDocument,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of doc.bytes) {
      length += chunk.length;
      if (length > maxBytes) {
        throw new SigError(
          "document_too_large",
          `Cannot read document: it is larger than ${maxBytes} bytes`,
          { context: { limit: maxBytes } },
        );
      }
      chunks.push(chunk);
    }
  } finally {
    await doc.cancel();
  }
  return joinBytes(chunks, length);
}

/** An issuer's four documents as values. They prove no origin. */
export interface InlineFeed {
  /** `sig.json`, parsed. */
  readonly metadata: unknown;
  /** `jwks.json`, parsed. */
  readonly jwks: unknown;
  /** `did.json`, parsed; absent like a file that isn't there. */
  readonly did_document?: unknown;
  /** The feed as NDJSON text. */
  readonly events: string;
}

/** A reader over values instead of files. */
export function createInlineReader(feed: InlineFeed): DocumentReader {
  const texts: { readonly [name in DocumentName]: string | undefined } = {
    metadata: JSON.stringify(feed.metadata),
    jwks: JSON.stringify(feed.jwks),
    did_document: JSON.stringify(feed.did_document),
    feed: feed.events,
    proof: undefined,
  };
  return {
    kind: "inline",
    open(_ref, { name }) {
      const text = texts[name];
      if (text === undefined) return Promise.reject(missing(name));
      const bytes = new TextEncoder().encode(text);
      return Promise.resolve(
        documentAtHand({ bytes, mediaType: null, etag: null }),
      );
    },
  };
}

function missing(name: DocumentName): SigError {
  return new SigError(
    "source_not_found",
    `Cannot read feed: it has no ${name}`,
    { context: { reason: "missing" } },
  );
}

/**
 * Makes a reader that gets each document with {@linkcode guardedFetch}, under
 * one policy.
 *
 * @example An injected server
 * ```ts
 * import { createRemoteReader } from "./reader.ts";
 * import { readAll } from "./reader.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const reader = createRemoteReader({
 *   fetch: () => Promise.resolve(Response.json({ keys: [] })),
 * });
 * const doc = await reader.open("https://acme.example/.well-known/jwks.json", {
 *   name: "jwks",
 *   maxBytes: 262_144,
 * });
 * const bytes = await readAll(doc, 262_144);
 * assertEquals(new TextDecoder().decode(bytes), '{"keys":[]}');
 * ```
 *
 * @throws {SigError} from `open`: as {@linkcode guardedFetch}.
 */
export function createRemoteReader(policy: FetchPolicy = {}): DocumentReader {
  return {
    kind: "remote",
    open: (ref, { name, maxBytes, conditions, signal }) =>
      guardedFetch(ref, {
        ...policy,
        ...{ maxBytes, conditions, signal: either(policy.signal, signal) },
        tooLargeCode: tooLargeCode(name),
        accept: ACCEPT[name],
      }),
  };
}

function either(
  a: AbortSignal | undefined,
  b: AbortSignal | undefined,
): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : a ?? b;
}
