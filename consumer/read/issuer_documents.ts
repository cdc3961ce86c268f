/** Documents fetched together, and again only when they changed. @module */

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

/** One document that will most likely be opened, and with which options. */
export interface LikelyDocument {
  /** Its reference. */
  readonly ref: string;
  /** The options for {@linkcode DocumentReader.open}. */
  readonly options: OpenOptions;
}

/**
 * How long several requests at once wait for their answers. A firewall that drops
 * a connection too many says nothing; a lost packet comes again within this time.
 */
const TOGETHER_MS = 3_000;

/** A request that was sent ahead. */
interface Sent extends LikelyDocument {
  readonly opened: Promise<OpenedDocument>;
  readonly abort: AbortController;
}

/** A small document as it was when everything of its issuer was verified. */
export interface HeldDocument {
  /** Where it was got from. */
  readonly ref: string;
  /** Its entity tag; without one it is fetched again each time. */
  readonly etag: string | null;
  /** The server's `Content-Type`. */
  readonly mediaType: string | null;
  /** The document. */
  readonly bytes: Uint8Array;
}

/** The documents of one issuer as they were read last. */
export type HeldDocuments = ReadonlyMap<DocumentName, HeldDocument>;

/** For a first fetch of everything. */
export const NO_DOCUMENTS: HeldDocuments = new Map();

/**
 * Reads the documents of an issuer that was read before.
 *
 * Small ones are requested by their entity tags, and an unchanged one is read
 * from memory. The bytes are kept, not what was made of them: so documents are
 * judged again each time, whichever of them changed, and a 304 can't hide what
 * two documents say together.
 *
 * Requests may be sent ahead, all together, so that four documents take as long
 * as one. An answer is used by the first `open` of that reference with the same
 * options: so what is checked, and in which order, is the same as without, errors
 * included.
 *
 * The metadata decides: if it has changed, nothing that was sent ahead is used.
 * An issuer that changes several documents publishes it last, so it is never read
 * with older ones.
 *
 * A server may have room for fewer requests at a time than these: where it
 * refuses one, no other is used, and that one is requested again. So are those
 * that it has not answered within 3 s, except the first document.
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
   * @param likely What will most likely be opened; the metadata comes first.
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
      // A failure is for the caller that opens it, if there is one.
      opened.then(answered, answered);
      return { ref, options, opened, abort };
    });
    if (this.#unanswered.size === 0) return;
    this.#timer = setTimeout(() => {
      for (const abort of this.#unanswered) abort.abort();
    }, TOGETHER_MS);
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
    if (name === "feed") return await this.#take(ref, options);
    const found = this.#kept.get(name);
    // The metadata may name another place now.
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
      if (!sent?.abort.signal.aborted && !mayBeCrowded(error)) throw error;
      // The others may be what takes the room.
      await this.#drop();
    }
    return await this.#reader.open(ref, options);
  }

  /** Closes the connections of all that nobody opened. */
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
          // There is nothing to close.
        }
      }),
    );
  }
}

/**
 * Whether a server in trouble says so. One that says nothing until the time is
 * up is not waited for twice.
 */
function mayBeCrowded(error: unknown): boolean {
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

/** How a document that was read before is requested; undefined: as a whole. */
export function conditionsFor(
  kept: HeldDocument | undefined,
): FetchConditions | undefined {
  const etag = kept?.etag ?? null;
  return etag === null ? undefined : { ifNoneMatch: etag };
}

/** A reader whose first document was read a moment ago. */
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

  /** As the reader below; what was read before is used once. */
  async open(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const document = this.#documents.get(options.name);
    this.#documents = NO_DOCUMENTS;
    return document?.ref === ref
      ? documentAtHand(document)
      : await this.#reader.open(ref, options);
  }
}
