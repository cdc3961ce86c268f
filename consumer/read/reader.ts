/**
 * Reads documents from servers and values, as bytes. Does not interpret them.
 *
 * @module
 */

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
import { ACCEPT, type DocumentName } from "../fetch/response_rules.ts";
import { guardedFetch } from "../fetch/guarded_fetch.ts";

/** Options of {@linkcode DocumentReader.open}. */
export interface OpenOptions {
  /** The document, which determines error codes and expected media types. */
  readonly name: DocumentName;
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Conditions of the request; a reader may ignore them. */
  readonly conditions?: FetchConditions | undefined;
  /** Aborts the request; a reader without I/O may ignore it. */
  readonly signal?: AbortSignal | undefined;
}

/** Size of a piece in bytes. Processing one piece takes little time. */
const PIECE_BYTES = 64 * 1024;

/** Reads documents as bytes. Does not interpret them. */
export interface DocumentReader {
  /**
   * How the documents are read. `sourceOf` returns the name used in answers.
   */
  readonly kind: "local" | "remote" | "inline";
  /**
   * Opens a document by its reference in the metadata (an absolute URL).
   *
   * @throws {SigError} `document_too_large`, or `feed_too_large` for the feed,
   * and the errors of reading it; {@linkcode isMissing} recognises absence.
   */
  open(ref: string, options: OpenOptions): Promise<OpenedDocument>;
}

/**
 * The location of an issuer's documents, and the issuer that must publish
 * there.
 */
export interface IssuerLocation {
  /** Reads the documents. */
  readonly reader: DocumentReader;
  /** The reference of `sig.json`. */
  readonly metadataRef: string;
  /** The DID that the origin proves; undefined for local and inline sources. */
  readonly expectedIssuer?: string | undefined;
}

/**
 * Returns the name of the source in answers (docs/protocol.md §1): `http` if
 * any of the documents was fetched without TLS, since nothing proves the origin
 * then.
 */
export function sourceOf(
  { reader, metadataRef }: IssuerLocation,
  metadata?: Pick<SigMetadata, "jwks_uri" | "events_uri">,
): SourceKind {
  if (reader.kind !== "remote") return reader.kind;
  const urls = [metadataRef, metadata?.jwks_uri, metadata?.events_uri];
  return urls.some((url) => url?.startsWith("http:")) ? "http" : "https";
}

/** Yields bytes in pieces, like a file or a server. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** Makes a document from bytes in memory. */
export function documentFromBytes(
  { bytes, mediaType, etag }: Pick<OpenedDocument, "mediaType" | "etag"> & {
    readonly bytes: Uint8Array;
  },
): OpenedDocument {
  return { bytes: inPieces(bytes), mediaType, etag, cancel() {} };
}

/** Returns the error code of a document over its limit. */
export function tooLargeCode(
  name: DocumentName,
): "document_too_large" | "feed_too_large" {
  return name === "feed" ? "feed_too_large" : "document_too_large";
}

/**
 * Returns whether an error of {@linkcode DocumentReader.open} means that the
 * document does not exist: 404, 410, no such file. Everything else (no
 * permission, a folder in its place, a failing server) must not count as
 * absence, or an attacker who causes it could switch a check off.
 * (docs/protocol.md §1)
 *
 * @example
 * ```ts
 * import { isMissing } from "./reader.ts";
 * import { SigError } from "@sig/core";
 * import { assert } from "@std/assert";
 *
 * const gone = new SigError("fetch_status", {
 *   reason: "status 410",
 *   context: { status: 410 },
 * });
 * assert(isMissing(gone));
 * assert(!isMissing(new SigError("fetch_timeout", { reason: "no answer" })));
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
 * @param maxBytes Maximum size in bytes; checked again after the reader's own
 * check.
 * @throws {SigError} `document_too_large`, and the errors of the reader.
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
        throw new SigError("document_too_large", {
          action: "read document",
          reason: `it is larger than ${maxBytes} bytes`,
          context: { limit: maxBytes },
        });
      }
      chunks.push(chunk);
    }
  } finally {
    await doc.cancel();
  }
  return joinBytes(chunks, length);
}

/** An issuer's four documents as values. They don't prove the origin. */
export interface InlineFeed {
  /** `sig.json`, parsed. */
  readonly metadata: unknown;
  /** `jwks.json`, parsed. */
  readonly jwks: unknown;
  /** `did.json`, parsed; absent if there is no such document. */
  readonly did_document?: unknown;
  /** The feed as NDJSON text. */
  readonly events: string;
}

/** Creates a reader of values instead of files. */
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
        documentFromBytes({ bytes, mediaType: null, etag: null }),
      );
    },
  };
}

function missing(name: DocumentName): SigError {
  return new SigError("source_not_found", {
    action: "read feed",
    reason: `it has no ${name}`,
    context: { reason: "missing" },
  });
}

/**
 * Creates a reader that fetches each document with {@linkcode guardedFetch},
 * under one policy.
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
        maxBytes,
        conditions,
        signal: either(policy.signal, signal),
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
