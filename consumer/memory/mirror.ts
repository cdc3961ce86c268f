/** A copy of an issuer's published bytes on disk. @module */

import { isSigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { OpenedDocument } from "../fetch/fetch_options.ts";
import type { DocumentName } from "../fetch/response_rules.ts";
import { ByteStream } from "../read/byte_stream.ts";
import type { HeldDocument, HeldDocuments } from "../read/issuer_documents.ts";
import type {
  DocumentReader,
  IssuerLocation,
  OpenOptions,
} from "../read/reader.ts";
import type { RecordKind } from "../store/record_store.ts";
import { ownerOfNewFile, WRITABLE_BY_OTHERS } from "../store/sqlite_file.ts";
import {
  FeedCopy,
  type Files,
  isFile,
  loadFiles,
  Replacement,
} from "./feed_copy.ts";
import { sha256Hex } from "./pin.ts";
import { decodeRecord, encodeRecord } from "./pin_record.ts";

/** Bytes at the end of the copy that are fetched again and compared. */
const OVERLAP_BYTES = 16 * 1024;
/** Bytes of a tail that are read before those of the copy. */
const MAX_TAKEN_BYTES = 1024 * 1024;

const DOCUMENTS: RecordKind = { name: "documents" };

/** What the server said about a document. */
type Label = Omit<HeldDocument, "bytes">;

/** What it said about the feed, and the size of the copy. */
type FeedLabel = Label & { readonly bytes: number };

/** What is stored beside the bytes of the feed. */
interface Stored {
  readonly feed: FeedLabel | null;
  readonly documents: readonly (readonly [
    name: DocumentName,
    document: Label & { readonly base64: string },
  ])[];
}

/** Options of {@linkcode Mirror.open}. */
export interface MirrorOptions {
  /** The folder of all copies. It is created with mode 0700. */
  readonly folder: string;
  /** The remembered feed. Only a copy of exactly these bytes is used. */
  readonly feed:
    | { readonly bytes: number; readonly sha256: string }
    | undefined;
  /**
   * Whether documents may be read from the copy (default: true). Without, the
   * server is asked for every byte, and the copy is only compared and replaced.
   */
  readonly useCopy?: boolean | undefined;
}

/**
 * Reads an issuer's documents from a server, and what has not changed from a
 * copy on disk. It is below verification: its bytes are verified like fetched
 * bytes, and deleting it costs only time. A folder that another user may change
 * is not used: with it, that user could do what the server can. Several
 * processes may use the same folder.
 *
 * The copy may be damaged, or of another history, and the issuer must not be
 * blamed for that: it is used only if its SHA-256 is the remembered one. So
 * other bytes of the server are the issuer's.
 *
 * The copy of the feed answers only after its whole end was compared with what
 * the server sends; otherwise the whole feed is fetched. A caller must therefore
 * fetch the whole feed from time to time (`useCopy: false`), because only that
 * compares the bytes before.
 */
export class Mirror implements DocumentReader {
  readonly #reader: DocumentReader;
  readonly #fs: Files | undefined;
  readonly #path: string;
  readonly #ref: string;
  readonly #options: MirrorOptions;
  /** The label of the stored feed. */
  readonly #label: FeedLabel | null;
  #copy: FeedCopy | null | undefined;
  /** The feed that is read. */
  #replacement: Replacement | undefined;
  /** The label of the feed that was recorded to its end. */
  #recorded: FeedLabel | undefined;
  /** Whether bytes of the feed were read from the copy. */
  usedCopy = false;
  /**
   * Whether the server has sent other bytes than the remembered ones, or a
   * shorter feed, even if the rest could not be read.
   */
  sawDifference = false;
  #differsAt: number | undefined;

  /** The small documents of the copy. */
  readonly documents: HeldDocuments;

  private constructor(
    { reader, metadataRef }: IssuerLocation,
    path: string,
    fs: Files | undefined,
    stored: Stored | undefined,
    options: MirrorOptions,
  ) {
    this.#reader = reader;
    this.#ref = metadataRef;
    this.#path = path;
    this.#fs = fs;
    this.#options = options;
    this.#label = stored?.feed ?? null;
    const { useCopy = true } = options;
    this.documents = new Map(
      useCopy &&
          stored?.documents.map(([name, { base64, ...label }]) =>
            [name, { ...label, bytes: Uint8Array.fromBase64(base64) }] as const
          ) || [],
    );
  }

  /**
   * Opens the copy of an issuer's documents for one read; the caller closes it.
   * Without a folder that can be used, or in one that another user owns or may
   * change, the mirror only passes documents on.
   */
  static async open(
    location: IssuerLocation,
    options: MirrorOptions,
  ): Promise<Mirror> {
    const { metadataRef } = location;
    const path = await pathOf(options.folder, metadataRef);
    const fs = openFolder(options.folder, path);
    const stored = fs && await readStored(fs, path, metadataRef);
    return new Mirror(location, path, fs, stored, options);
  }

  /** Removes the copy of an issuer's documents, if there is one. */
  static async remove(folder: string, metadataRef: string): Promise<void> {
    const path = await pathOf(folder, metadataRef);
    for (const each of [path, `${path}.documents`]) {
      try {
        loadFiles()?.rmSync(each, { force: true });
      } catch {
        // A copy that stays is not trusted.
      }
    }
  }

  get kind(): DocumentReader["kind"] {
    return this.#reader.kind;
  }

  /**
   * The sequence of the first event that is not the remembered one; undefined
   * if it was not read.
   */
  get firstDifference(): number | undefined {
    const at = this.#differsAt;
    return at === undefined ? undefined : this.#openCopy()?.lineAt(at);
  }

  /**
   * Opens a document like the wrapped reader. Only a feed without conditions of
   * the caller is read from the copy.
   */
  async open(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    if (options.name !== "feed") return await this.#reader.open(ref, options);
    const { useCopy = true } = this.#options;
    const mayContinue = useCopy && options.conditions === undefined &&
      this.#label?.ref === ref;
    const copy = mayContinue ? this.#openCopy() : undefined;
    const continued = copy && copy.bytes > 0 && copy.bytes <= options.maxBytes
      ? await this.#continue(copy, this.#label!, options)
      : undefined;
    if (continued !== undefined) return continued;
    const document = await this.#reader.open(ref, options);
    if (document.unchanged) return document;
    return this.#record(ref, document, document.range?.first ?? 0);
  }

  /**
   * Makes what was read the copy: to be called after everything was verified
   * and accepted. A failure costs only the copy.
   */
  async keep(documents: HeldDocuments): Promise<void> {
    const fs = this.#fs;
    if (fs === undefined) return;
    const isKept = this.#recorded !== undefined && this.#replacement?.keep();
    const feed = isKept ? this.#recorded ?? null : this.#label;
    await writeStored(fs, this.#path, this.#ref, {
      feed,
      documents: [...documents].map(([name, { bytes, ...label }]) =>
        [name, { ...label, base64: bytes.toBase64() }] as const
      ),
    });
  }

  /** Closes the files, and removes what was not kept. */
  close(): void {
    this.#replacement?.close();
    this.#copy?.close();
  }

  /** Calls {@linkcode close}, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Opens the copy at its first use, since all of it is read. */
  #openCopy(): FeedCopy | undefined {
    const { feed } = this.#options;
    this.#copy ??= this.#fs && feed && feed.bytes === this.#label?.bytes &&
        FeedCopy.open(this.#fs, this.#path, feed) || null;
    return this.#copy ?? undefined;
  }

  /**
   * Opens the copy and what the server has appended. Returns undefined if the
   * end of the copy is not what the server has at this place.
   */
  async #continue(
    copy: FeedCopy,
    { ref, etag, mediaType }: Label,
    options: OpenOptions,
  ): Promise<OpenedDocument | undefined> {
    const { bytes } = copy;
    const from = Math.max(0, bytes - OVERLAP_BYTES);
    const ifNoneMatch = etag === null ? {} : { ifNoneMatch: etag };
    const conditions = { ...ifNoneMatch, range: { from } };
    let tail: OpenedDocument;
    try {
      tail = await this.#reader.open(ref, { ...options, conditions });
    } catch (error) {
      if (!isRangeRefused(error)) throw error;
      this.sawDifference ||= isSigError(error, "fetch_status");
      return undefined;
    }
    if (tail.unchanged) {
      await tail.cancel();
      return this.#joined(copy, { ...tail, etag, mediaType, bytes: nothing() });
    }
    if (tail.range === undefined) return this.#record(ref, tail, 0);
    const stream = new ByteStream(tail.bytes);
    // The server may have fewer bytes than the copy: all must be compared.
    for (let at = from; at < bytes;) {
      const served = await stream.next(bytes - at);
      const isSame = tail.range.first === from && served !== undefined &&
        sameBytes(served, copy.read(at, served.length));
      if (isSame) {
        at += served.length;
        continue;
      }
      this.sawDifference = true;
      await stream.close();
      await tail.cancel();
      return undefined;
    }
    const length = tail.range.total - bytes;
    // Verifying the copy may take longer than a server waits.
    const first = await stream.take(MAX_TAKEN_BYTES);
    const served = chain([first], stream.rest());
    const rest = this.#record(ref, { ...tail, bytes: served }, bytes);
    return this.#joined(copy, { ...rest, length });
  }

  /** Returns the copy, followed by a tail. */
  #joined(copy: FeedCopy, tail: OpenedDocument): OpenedDocument {
    this.usedCopy = true;
    const { etag, mediaType } = tail;
    return {
      etag,
      mediaType,
      bytes: chain(copy.pieces(), tail.bytes),
      length: copy.bytes + (tail.length ?? 0),
      cancel: () => tail.cancel(),
    };
  }

  /** Returns a document whose bytes from an offset on are recorded. */
  #record(
    ref: string,
    document: OpenedDocument,
    from: number,
  ): OpenedDocument {
    const fs = this.#fs;
    const known = this.#openCopy()?.bytes ?? 0;
    if (fs === undefined || from > known) return document;
    this.#replacement?.close();
    this.#replacement = new Replacement(fs, this.#path);
    const { etag, mediaType } = document;
    const label = { ref, etag, mediaType };
    return { ...document, bytes: this.#follow(document.bytes, from, label) };
  }

  /** Compares served bytes with the copy, and saves the feed up to their end. */
  async *#follow(
    served: AsyncIterable<Uint8Array>,
    from: number,
    label: Label,
  ): AsyncGenerator<Uint8Array> {
    const copy = this.#openCopy();
    const known = copy?.bytes ?? 0;
    this.#recorded = undefined;
    for (const piece of copy?.pieces(from) ?? []) this.#replacement?.add(piece);
    let at = from;
    for await (const chunk of served) {
      if (at < known && this.#differsAt === undefined) {
        const held = copy?.read(at, chunk.length) ?? chunk;
        const same = commonLength(held, chunk);
        if (same < held.length) this.#differsAt = at + same;
      }
      this.#replacement?.add(chunk);
      at += chunk.length;
      this.sawDifference ||= this.#differsAt !== undefined;
      yield chunk;
    }
    this.#recorded = { ...label, bytes: at };
    this.sawDifference ||= at < known;
  }
}

async function* chain(
  first: Iterable<Uint8Array>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Whether the server has fewer bytes, or does not serve parts as it should. */
function isRangeRefused(error: unknown): boolean {
  return isSigError(error, "fetch_status") && error.context.status === 416 ||
    isSigError(error, "fetch_failed") && error.context.kind === "range";
}

/**
 * Creates the folder of all copies if it is not there, and a file at `path` for
 * a moment, to learn the owner of files. Returns undefined if it
 * can't be used, or if another user could have written the copies.
 */
function openFolder(folder: string, path: string): Files | undefined {
  const fs = loadFiles();
  try {
    fs?.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const owner = fs && ownerOfNewFile(fs, path);
    if (fs === undefined || owner === undefined) return fs;
    const { uid, mode } = fs.statSync(folder);
    const isOwn = uid === owner && (mode & WRITABLE_BY_OTHERS) === 0;
    return isOwn ? fs : undefined;
  } catch {
    return undefined;
  }
}

async function pathOf(folder: string, metadataRef: string): Promise<string> {
  return `${folder}/${await sha256Hex(metadataRef)}`;
}

/** Returns what is stored; undefined if there is nothing, or it is damaged. */
async function readStored(
  fs: Files,
  path: string,
  id: string,
): Promise<Stored | undefined> {
  const file = `${path}.documents`;
  try {
    if (!isFile(fs, file)) return undefined;
    const text = fs.readFileSync(file, "utf8");
    return await decodeRecord({ kind: DOCUMENTS, id }, text) as Stored;
  } catch {
    return undefined;
  }
}

async function writeStored(
  fs: Files,
  path: string,
  id: string,
  stored: Stored,
): Promise<void> {
  const text = await encodeRecord({ kind: DOCUMENTS, id }, stored);
  const file = new Replacement(fs, `${path}.documents`);
  file.add(new TextEncoder().encode(text));
  file.keep();
  file.close();
}

/** Returns the number of equal bytes at the start. */
function commonLength(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a[at] === b[at]) at++;
  return at;
}
