/** Asking again only for what changed (RFC 9110 §13). @module */

import {
  documentAtHand,
  type DocumentReader,
  type OpenedDocument,
  type OpenOptions,
  readAll,
} from "./reader.ts";
import type { FetchConditions } from "../fetch/fetch_options.ts";
import type { DocumentName } from "../fetch/media_type.ts";

/** A small document as it was when everything of its issuer was verified. */
export interface HeldDocument {
  /** Where it was got from. */
  readonly ref: string;
  /** Its entity tag; without one it is fetched again each time. */
  readonly etag: string | null;
  /** As the server told it. */
  readonly mediaType: string | null;
  /** The document. */
  readonly bytes: Uint8Array;
}

/** The documents of one issuer as they were read last. */
export type HeldDocuments = ReadonlyMap<DocumentName, HeldDocument>;

/** Where everything is asked for anew. */
export const NO_DOCUMENTS: HeldDocuments = new Map();

/**
 * A reader that sends the entity tags of the documents it is given, and reads
 * an unchanged one from memory. The bytes are kept, not what was made of them:
 * so documents are judged anew each time, whichever of them changed, and a 304
 * can't hide what two documents say together. The feed passes through.
 */
export class ConditionalReader implements DocumentReader {
  readonly #reader: DocumentReader;
  readonly #kept: HeldDocuments;
  readonly #read = new Map<DocumentName, HeldDocument>();

  constructor(reader: DocumentReader, kept: HeldDocuments) {
    this.#reader = reader;
    this.#kept = kept;
  }

  get kind(): DocumentReader["kind"] {
    return this.#reader.kind;
  }

  /** What to keep, once everything that was read is verified. */
  get documents(): HeldDocuments {
    return this.#read;
  }

  /** As the reader below, but small documents are read at once. */
  async open(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const { name, maxBytes } = options;
    if (name === "feed") return await this.#reader.open(ref, options);
    const found = this.#kept.get(name);
    // The metadata may name another place now.
    const kept = found?.ref === ref ? found : undefined;
    const document = await this.#reader.open(ref, {
      ...options,
      conditions: conditionsFor(kept),
    });
    if (kept !== undefined && document.unchanged) {
      await document.cancel();
      this.#read.set(name, kept);
      return documentAtHand(kept);
    }
    const bytes = await readAll(document, maxBytes);
    const { mediaType, etag } = document;
    this.#read.set(name, { ref, etag, mediaType, bytes });
    return documentAtHand({ mediaType, etag, bytes });
  }
}

/** How a document that was read before is requested; undefined: as a whole. */
export function conditionsFor(
  kept: HeldDocument | undefined,
): FetchConditions | undefined {
  const etag = kept?.etag ?? null;
  return etag === null ? undefined : { ifNoneMatch: etag };
}
