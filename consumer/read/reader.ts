/** Documents from servers and values, as bytes; judges nothing about their meaning. @module */

import {
  isSigError,
  SigError,
  type SigMetadata,
  type SourceKind,
} from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import type {
  ContentRange,
  FetchConditions,
  FetchPolicy,
} from "../fetch/fetch_options.ts";
import { ACCEPT, type DocumentName } from "../fetch/media_type.ts";
import { guardedFetch } from "../fetch/guarded_fetch.ts";

/** A document whose bytes are on their way. Read it once, or cancel it. */
export interface OpenedDocument {
  /**
   * The bytes, in chunks; to be iterated at most once. Leaving the loop early
   * closes the file or connection.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The media type from the server, or null. */
  readonly mediaType: string | null;
  /** The entity tag from the server, or null. */
  readonly etag: string | null;
  /** The document is the one that `ifNoneMatch` names; no bytes follow. */
  readonly unchanged?: boolean;
  /** Bytes to come, if known; for progress only, never relied upon. */
  readonly length?: number | undefined;
  /** Which bytes these are, when they are not all. */
  readonly range?: ContentRange | undefined;
  /** Closes the file or connection; may be called at any time and twice. */
  cancel(): void | Promise<void>;
}

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
    async open(ref, { name, maxBytes, conditions, signal }) {
      const fetched = await guardedFetch(ref, {
        ...policy,
        ...(signal === undefined ? {} : { signal: either(policy, signal) }),
        maxBytes,
        tooLargeCode: tooLargeCode(name),
        accept: ACCEPT[name],
        ...(conditions === undefined ? {} : { headers: conditions }),
      });
      return {
        bytes: fetched.body,
        mediaType: fetched.mediaType,
        etag: fetched.etag,
        unchanged: fetched.status === 304,
        length: fetched.length,
        range: fetched.contentRange,
        cancel: fetched.cancel,
      };
    },
  };
}

function either({ signal }: FetchPolicy, other: AbortSignal): AbortSignal {
  return signal === undefined ? other : AbortSignal.any([signal, other]);
}

/** Options of {@linkcode fetchDocument}. */
export interface FetchDocumentOptions extends FetchPolicy {
  /** Bytes at most. */
  readonly maxBytes: number;
}

/**
 * Fetches a document that a stranger named, such as the `did.json` of a
 * did:web: public addresses only, no redirects, limits on bytes and time
 * (docs/protocol.md §10). What it says is not judged.
 *
 * @example A private address is refused before anything is connected to
 * ```ts
 * import { fetchDocument } from "@sig/consumer/internal";
 * import { SigError } from "@sig/core";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(
 *   () => fetchDocument("https://10.0.0.1/did.json", { maxBytes: 65_536 }),
 *   SigError,
 *   "the address is not a public one",
 * );
 * ```
 *
 * @throws {SigError} `insecure_url`, `address_not_allowed`, `fetch_redirected`,
 * `fetch_status`, `fetch_media_type`, `fetch_timeout`, `fetch_failed`,
 * `document_too_large`.
 * @throws {RangeError} for an invalid limit.
 */
export async function fetchDocument(
  url: string,
  options: FetchDocumentOptions,
): Promise<Uint8Array> {
  const fetched = await guardedFetch(url, {
    ...options,
    tooLargeCode: "document_too_large",
  });
  return await readAll({ ...fetched, bytes: fetched.body }, options.maxBytes);
}
