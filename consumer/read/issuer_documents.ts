/**
 * Fetches the documents of an issuer in two round trips, and again only if they
 * changed.
 *
 * @module
 */

import { DEFAULT_LIMITS, isSigError, JsonError, parseJson } from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  documentFromBytes,
  type DocumentReader,
  type IssuerLocation,
  type OpenOptions,
  readAll,
} from "./reader.ts";
import type {
  FetchConditions,
  OpenedDocument,
} from "../fetch/fetch_options.ts";
import type { DocumentName } from "../fetch/response_rules.ts";

/**
 * A small document that was verified together with all others of its issuer.
 */
export interface HeldDocument {
  readonly ref: string;
  /** Entity tag; if null, the document is fetched again each time. */
  readonly etag: string | null;
  readonly mediaType: string | null;
  readonly bytes: Uint8Array;
}

/** The documents of one issuer from the last verification. */
export type HeldDocuments = ReadonlyMap<DocumentName, HeldDocument>;

/** No documents, for a first fetch. */
export const NO_DOCUMENTS: HeldDocuments = new Map();

/**
 * Time limit in milliseconds of a feed that is requested together with the
 * documents. A firewall may silently drop a connection over its limit; a lost
 * packet is retransmitted within this time.
 */
const TOGETHER_TIMEOUT_MS = 3_000;

/** A feed that was requested before it is opened. */
interface Sent {
  readonly ref: string;
  readonly conditions: FetchConditions | undefined;
  readonly opened: Promise<OpenedDocument>;
  readonly abort: AbortController;
}

/**
 * Reads the documents of an issuer, which may have been read before.
 *
 * Small documents are requested with their entity tags, and an unchanged one is
 * read from memory. The bytes are kept, not the parsed documents: all documents
 * are checked again each time, so that a 304 can't hide a contradiction between
 * two documents.
 *
 * The feed can be requested together with the documents. A server may accept
 * fewer concurrent requests: if it refuses this one, or does not answer within
 * 3 s, the feed is requested again when it is opened.
 */
export class IssuerDocuments implements DocumentReader {
  readonly #reader: DocumentReader;
  readonly #kept: HeldDocuments;
  readonly #read = new Map<DocumentName, HeldDocument>();
  readonly #timedOut = new Map<string, unknown>();
  #sent: Sent | undefined;

  constructor(reader: DocumentReader, kept: HeldDocuments) {
    this.#reader = reader;
    this.#kept = kept;
  }

  get kind(): DocumentReader["kind"] {
    return this.#reader.kind;
  }

  /** The documents to keep once everything that was read is verified. */
  get documents(): HeldDocuments {
    return this.#read;
  }

  /**
   * Returns whether the metadata, which is read first, names proofs. Whether it
   * is valid is checked by `loadIssuer`.
   *
   * @throws {SigError} the errors of reading it.
   */
  async findProofs({ metadataRef }: IssuerLocation): Promise<boolean> {
    const { maxMetadataBytes: maxBytes } = DEFAULT_LIMITS;
    const given = { name: "metadata", maxBytes } as const;
    const document = await this.open(metadataRef, given);
    try {
      const metadata = parseJson(await readAll(document, maxBytes));
      return isObject(metadata) && metadata.proofs_uri !== undefined;
    } catch (error) {
      if (error instanceof JsonError) return false;
      throw error;
    }
  }

  /** Requests the feed now. The caller must call {@linkcode end}. */
  sendFeed(ref: string, options: Omit<OpenOptions, "name" | "signal">): void {
    const abort = new AbortController();
    const { signal } = abort;
    const timer = setTimeout(() => abort.abort(), TOGETHER_TIMEOUT_MS);
    const opened = this.#reader.open(ref, { ...options, name: "feed", signal })
      .finally(() => clearTimeout(timer));
    // A failure is reported by `open`, if the feed is opened.
    opened.catch(() => {});
    this.#sent = { ref, conditions: options.conditions, opened, abort };
  }

  /** Opens a document. Reads small documents completely. */
  async open(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const { name, maxBytes } = options;
    if (name === "feed") return await this.#openFeed(ref, options);
    const found = this.#kept.get(name);
    // The metadata may contain another reference now.
    const kept = found?.ref === ref ? found : undefined;
    const conditions = conditionsFor(kept);
    const asked = { ...options, conditions };
    const document = await this.#reader.open(ref, asked).catch((error) => {
      if (isSigError(error, "fetch_timeout")) this.#timedOut.set(ref, error);
      throw error;
    });
    if (kept !== undefined && document.unchanged) {
      await document.cancel();
      this.#read.set(name, kept);
      return documentFromBytes(kept);
    }
    const bytes = await readAll(document, maxBytes);
    const { mediaType, etag } = document;
    this.#read.set(name, { ref, etag, mediaType, bytes });
    return documentFromBytes({ mediaType, etag, bytes });
  }

  async #openFeed(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const sent = this.#sent;
    const isAsked = sent?.ref === ref &&
      isSame(sent.conditions, options.conditions);
    if (!isAsked) {
      await this.end();
      return await this.#reader.open(ref, options);
    }
    this.#sent = undefined;
    try {
      return await sent.opened;
    } catch (error) {
      if (!sent.abort.signal.aborted && !mayBeOverloaded(error)) throw error;
      return await this.#reader.open(ref, options);
    }
  }

  /**
   * Returns a reader that has already read these documents, and whose answers
   * are each used once: a slow server gets no second request either.
   */
  again(): DocumentReader {
    const reader = this.#reader;
    const read = new Map(this.#read);
    const timedOut = new Map(this.#timedOut);
    return {
      kind: reader.kind,
      async open(ref, options) {
        const document = read.get(options.name);
        if (document?.ref === ref) {
          read.delete(options.name);
          return documentFromBytes(document);
        }
        const error = timedOut.get(ref);
        timedOut.delete(ref);
        if (error !== undefined) throw error;
        return await reader.open(ref, options);
      },
    };
  }

  /** Ends a request whose response was not used. */
  async end(): Promise<void> {
    const sent = this.#sent;
    this.#sent = undefined;
    sent?.abort.abort();
    try {
      await (await sent?.opened)?.cancel();
    } catch {
      // The request failed, so there is no connection to close.
    }
  }
}

/**
 * Returns whether a server may have refused a request because there were too
 * many. A timeout does not count: the request would wait for it twice.
 */
function mayBeOverloaded(error: unknown): boolean {
  if (isSigError(error, "fetch_status")) {
    const { status } = error.context;
    return typeof status === "number" && (status === 429 || status >= 500);
  }
  return isSigError(error, "fetch_failed") &&
    (error.context.kind === "refused" || error.context.kind === "closed");
}

function isSame(
  a: FetchConditions | undefined,
  b: FetchConditions | undefined,
): boolean {
  return a?.ifNoneMatch === b?.ifNoneMatch && a?.range?.from === b?.range?.from;
}

/** Undefined for an unconditional request. */
function conditionsFor(
  kept: HeldDocument | undefined,
): FetchConditions | undefined {
  const etag = kept?.etag ?? null;
  return etag === null ? undefined : { ifNoneMatch: etag };
}
