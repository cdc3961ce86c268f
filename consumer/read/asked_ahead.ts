/** Documents that are asked for before anybody opens them. @module */

import { isSigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import {
  documentAtHand,
  type DocumentReader,
  type OpenedDocument,
  type OpenOptions,
  readAll,
} from "./reader.ts";

/** One document that will most likely be opened, and with which options. */
export interface LikelyDocument {
  /** Its reference. */
  readonly ref: string;
  /** As {@linkcode DocumentReader.open} will be told. */
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

/**
 * A reader that sends requests ahead, all together, so that four documents take
 * as long as one. An answer is handed out to who opens that very reference with
 * the same options, and then for the first time: so what is judged, and in
 * which order, is the same as without, errors included.
 *
 * The first document that is opened decides: unless it is as it was, nothing is
 * handed out that was sent ahead. Who publishes it behind the others, as whoever
 * changes several has to, is then never read with older ones.
 *
 * A server may have room for fewer requests at a time than these: where it
 * refuses one, nothing more is handed out, and that one is asked for anew. So
 * are those that it has not answered within 3 s, but for the first document: who
 * is silent to that is silent, and holds one connection from then on.
 */
export class AskedAhead implements DocumentReader {
  readonly #reader: DocumentReader;
  readonly #sent: Sent[];
  readonly #unanswered = new Set<AbortController>();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #first: Uint8Array | undefined;

  /**
   * Sends the requests. Whoever makes one calls {@linkcode end}.
   *
   * @param likely The one that will be opened first comes first.
   * @param first The bytes that the first document had.
   */
  constructor(
    reader: DocumentReader,
    likely: readonly LikelyDocument[],
    first?: Uint8Array,
  ) {
    this.#reader = reader;
    this.#first = first;
    this.#sent = likely.map(({ ref, options }, i) => {
      const abort = new AbortController();
      const { signal } = abort;
      const opened = reader.open(ref, { ...options, signal });
      if (i > 0) this.#unanswered.add(abort);
      const answered = () => void this.#unanswered.delete(abort);
      // A failure is told to who opens it, if anybody does.
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

  /** As the reader below. */
  async open(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const first = this.#first;
    this.#first = undefined;
    const document = await this.#take(ref, options);
    if (first === undefined || document.unchanged === true) return document;
    const bytes = await readAll(document, options.maxBytes);
    if (!sameBytes(bytes, first)) await this.#drop();
    const { mediaType, etag } = document;
    return documentAtHand({ bytes, mediaType, etag });
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
