/**
 * Fetches the documents of an issuer concurrently, and again only if they
 * changed.
 *
 * @module
 */

import { isSigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import {
  documentAtHand,
  type DocumentReader,
  type OpenOptions,
  readAll,
} from "./reader.ts";
import type {
  FetchConditions,
  OpenedDocument,
} from "../fetch/fetch_options.ts";
import type { DocumentName } from "../fetch/media_type.ts";

/** A document that will probably be opened, with the options of its `open`. */
export interface LikelyDocument {
  readonly ref: string;
  readonly options: OpenOptions;
}

/**
 * Time limit for concurrent requests in milliseconds. A firewall may silently
 * drop a connection over its limit; a lost packet is retransmitted within this
 * time.
 */
const CONCURRENT_TIMEOUT_MS = 3_000;

/** A request that was sent before its document is opened. */
interface Sent extends LikelyDocument {
  readonly opened: Promise<OpenedDocument>;
  readonly abort: AbortController;
}

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
 * Reads the documents of an issuer that was read before.
 *
 * Small documents are requested with their entity tags, and an unchanged one is
 * read from memory. The bytes are kept, not the parsed documents: all documents
 * are checked again each time, so that a 304 can't hide a contradiction between
 * two documents.
 *
 * Requests may be sent ahead concurrently, so that four documents take as long
 * as one. A response is used by the first `open` of that reference with the
 * same options. The checks, their order and their errors are therefore the same
 * as without it.
 *
 * If the metadata has changed, no other response that was requested ahead is
 * used. An issuer that changes several documents publishes the metadata last,
 * so it is never read together with older documents.
 *
 * A server may accept fewer concurrent requests: if it refuses one, the other
 * responses are not used, and that document is requested again. So are
 * documents that it has not sent within 3 s, except the first.
 */
export class IssuerDocuments implements DocumentReader {
  readonly #reader: DocumentReader;
  readonly #kept: HeldDocuments;
  readonly #read = new Map<DocumentName, HeldDocument>();
  readonly #sent: Sent[];
  readonly #unanswered = new Set<AbortController>();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Sends requests ahead. The caller must call {@linkcode end}.
   *
   * @param likely The documents that will probably be opened; the metadata is
   * the first.
   */
  constructor(
    reader: DocumentReader,
    kept: HeldDocuments,
    likely: readonly LikelyDocument[] = [],
  ) {
    this.#reader = reader;
    this.#kept = kept;
    this.#sent = likely.map(({ ref, options }, i) => {
      const abort = new AbortController();
      const { signal } = abort;
      const opened = reader.open(ref, { ...options, signal });
      if (i > 0) this.#unanswered.add(abort);
      const answered = () => void this.#unanswered.delete(abort);
      // A failure is reported by `open`, if this document is opened.
      opened.then(answered, answered);
      return { ref, options, opened, abort };
    });
    if (this.#unanswered.size === 0) return;
    this.#timer = setTimeout(() => {
      for (const abort of this.#unanswered) abort.abort();
    }, CONCURRENT_TIMEOUT_MS);
  }

  get kind(): DocumentReader["kind"] {
    return this.#reader.kind;
  }

  /** The documents to keep once everything that was read is verified. */
  get documents(): HeldDocuments {
    return this.#read;
  }

  /** Reads small documents completely. */
  async open(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const { name, maxBytes } = options;
    if (name === "feed") return await this.#take(ref, options);
    const found = this.#kept.get(name);
    // The metadata may contain another reference now.
    const kept = found?.ref === ref ? found : undefined;
    const conditions = conditionsFor(kept);
    const document = await this.#take(ref, { ...options, conditions });
    if (kept !== undefined && document.unchanged) {
      await document.cancel();
      this.#read.set(name, kept);
      return documentAtHand(kept);
    }
    const bytes = await readAll(document, maxBytes);
    const isSameAsKept = kept !== undefined && sameBytes(bytes, kept.bytes);
    if (name === "metadata" && !isSameAsKept) await this.#drop();
    const { mediaType, etag } = document;
    this.#read.set(name, { ref, etag, mediaType, bytes });
    return documentAtHand({ mediaType, etag, bytes });
  }

  async #take(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const at = this.#sent.findIndex((each) => isSame(each, ref, options));
    const [sent] = at < 0 ? [] : this.#sent.splice(at, 1);
    try {
      if (sent !== undefined) return await sent.opened;
    } catch (error) {
      if (!sent?.abort.signal.aborted && !mayBeOverloaded(error)) throw error;
      // The other requests may be what exceeds the server's limit.
      await this.#drop();
    }
    return await this.#reader.open(ref, options);
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#drop();
  }

  async #drop(): Promise<void> {
    await Promise.all(
      this.#sent.splice(0).map(async ({ opened, abort }) => {
        abort.abort();
        try {
          await (await opened).cancel();
        } catch {
          // The request failed, so there is no connection to close.
        }
      }),
    );
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
  sent: LikelyDocument,
  ref: string,
  { name, maxBytes, conditions }: OpenOptions,
): boolean {
  const before = sent.options;
  return sent.ref === ref && before.name === name &&
    before.maxBytes === maxBytes &&
    before.conditions?.ifNoneMatch === conditions?.ifNoneMatch &&
    before.conditions?.range?.from === conditions?.range?.from;
}

/** Undefined for an unconditional request. */
export function conditionsFor(
  kept: HeldDocument | undefined,
): FetchConditions | undefined {
  const etag = kept?.etag ?? null;
  return etag === null ? undefined : { ifNoneMatch: etag };
}

/** A reader that has already read its first document. */
export class ReadBefore implements DocumentReader {
  readonly #reader: DocumentReader;
  #documents: HeldDocuments;

  constructor(reader: DocumentReader, documents: HeldDocuments) {
    this.#reader = reader;
    this.#documents = documents;
  }

  get kind(): DocumentReader["kind"] {
    return this.#reader.kind;
  }

  /**
   * Opens a document like the wrapped reader. The document that was already
   * read is used once.
   */
  async open(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const document = this.#documents.get(options.name);
    this.#documents = NO_DOCUMENTS;
    return document?.ref === ref
      ? documentAtHand(document)
      : await this.#reader.open(ref, options);
  }
}
