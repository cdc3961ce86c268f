/** A copy of an issuer's published bytes on disk. @module */

import { isSigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { OpenedDocument } from "../fetch/fetch_options.ts";
import type { DocumentName } from "../fetch/media_type.ts";
import { ByteStream } from "../read/byte_stream.ts";
import type { HeldDocument } from "../read/issuer_documents.ts";
import {
  documentFromBytes,
  type DocumentReader,
  type IssuerLocation,
  type OpenOptions,
  readAll,
} from "../read/reader.ts";
import { ownerOfNewFile, WRITABLE_BY_OTHERS } from "../store/sqlite_file.ts";
import { createFastSha256 } from "../verify/verify_feed.ts";
import {
  FeedCopy,
  FeedRecorder,
  type Files,
  isLabel,
  loadFiles,
} from "./feed_copy.ts";

/**
 * Bytes at the end of the copy that are fetched again and compared before the
 * copy is used.
 */
const OVERLAP_BYTES = 16 * 1024;
/** Bytes of a tail that are read before those of the copy. */
const MAX_TAKEN_BYTES = 1024 * 1024;

/** Options of {@linkcode Mirror.open}. */
export interface MirrorOptions {
  /** The folder of all copies. It is created with mode 0700. */
  readonly folder: string;
  /**
   * Whether documents may be read from the copy (default: true). Without, the
   * server is asked for every byte, and the copy is only compared and replaced.
   */
  readonly useCopy?: boolean | undefined;
  /**
   * Number of remembered bytes of the feed (default: any). A longer copy is not
   * used: a server that has not changed anything would not contradict it.
   */
  readonly maxCopyBytes?: number | undefined;
}

/**
 * Reads an issuer's documents from a server, and what has not changed from a
 * copy on disk. It is below verification: its bytes are verified like fetched
 * bytes, so that it needs no more trust than the server, and no state, and
 * deleting it costs only time. A folder that another user may change is not
 * used: with it, that user could do what the server can. Several processes may use the same folder.
 *
 * The copy of the feed is used only after its whole end was compared with what
 * the server sends; otherwise the whole feed is fetched. A caller must therefore
 * fetch the whole feed from time to time (`useCopy: false`), because only that
 * compares the bytes before.
 *
 * The copy may be damaged, and the issuer must not be blamed for that:
 * - If a read fails by a fault or a contradiction and {@linkcode usedCopy} is
 *   true, only a second read with `useCopy: false` counts.
 * - {@linkcode sawDifference} and {@linkcode firstDifference} say something
 *   about the issuer only if the copy {@linkcode isOf} what is remembered.
 *
 * @example
 * ```ts
 * import { Mirror } from "./mirror.ts";
 * import { createRemoteReader, readAll } from "../read/reader.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const ref = "https://acme.example/.well-known/jwks.json";
 * const statuses: number[] = [];
 * const fetch = ({ headers }: Request) => {
 *   const status = headers.get("if-none-match") === '"1"' ? 304 : 200;
 *   statuses.push(status);
 *   const body = status === 304 ? null : '{"keys":[]}';
 *   return Promise.resolve(new Response(body, { status, headers: { etag: '"1"' } }));
 * };
 * const location = {
 *   reader: createRemoteReader({ fetch }),
 *   metadataRef: "https://acme.example/.well-known/sig.json",
 * };
 * const folder = await Deno.makeTempDir();
 * for (const usedCopy of [false, true]) {
 *   using mirror = await Mirror.open(location, { folder });
 *   const document = await mirror.open(ref, { name: "jwks", maxBytes: 100 });
 *   assertEquals((await readAll(document, 100)).length, 11);
 *   assertEquals(mirror.usedCopy, usedCopy);
 *   mirror.keep();
 * }
 * assertEquals(statuses, [200, 304]);
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export class Mirror implements DocumentReader {
  readonly #reader: DocumentReader;
  readonly #fs: Files | undefined;
  readonly #path: string;
  readonly #useCopy: boolean;
  readonly #maxCopyBytes: number;
  readonly #copy: FeedCopy | undefined;
  readonly #documents: Map<DocumentName, HeldDocument>;
  #recorder: FeedRecorder | undefined;
  #opened:
    | Pick<OpenedDocument, "etag" | "mediaType"> & { ref: string }
    | undefined;
  #usedCopy = false;
  #sawDifference = false;

  private constructor(
    reader: DocumentReader,
    path: string,
    fs: Files | undefined,
    { useCopy = true, maxCopyBytes = Infinity }: Omit<MirrorOptions, "folder">,
  ) {
    this.#reader = reader;
    this.#path = path;
    this.#fs = fs;
    this.#useCopy = useCopy;
    this.#maxCopyBytes = maxCopyBytes;
    this.#copy = fs && FeedCopy.open(fs, path);
    this.#documents = readDocuments(fs, `${path}.documents`);
  }

  /**
   * Opens the copy of an issuer's documents for one read; the caller closes it.
   * Without a folder that can be used, or in one that another user owns or may
   * change, the mirror only passes documents on.
   */
  static async open(
    { reader, metadataRef }: IssuerLocation,
    { folder, ...options }: MirrorOptions,
  ): Promise<Mirror> {
    const path = await pathOf(folder, metadataRef);
    return new Mirror(reader, path, openFolder(folder, path), options);
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

  /** Whether bytes of the copy were read. */
  get usedCopy(): boolean {
    return this.#usedCopy;
  }

  /**
   * Whether the server has sent other bytes than the copy has, or a shorter
   * feed, even if the rest could not be read.
   */
  get sawDifference(): boolean {
    return this.#sawDifference || this.#recorder?.difference !== undefined ||
      this.#recorder?.isShorter === true;
  }

  /**
   * The sequence of the first event that is not the copy's; undefined if it was
   * not read.
   */
  get firstDifference(): number | undefined {
    const at = this.#recorder?.difference;
    return at === undefined ? undefined : this.#copy?.lineAt(at);
  }

  /** Whether the copy begins with the bytes that have this SHA-256. */
  isOf({ bytes, sha256 }: { bytes: number; sha256: string }): boolean {
    const copy = this.#copy;
    if (copy === undefined || copy.header.bytes < bytes) return false;
    const digest = createFastSha256();
    for (const piece of copy.pieces(bytes)) digest.update(piece);
    return digest.hex() === sha256;
  }

  /**
   * Opens a document like the wrapped reader. With conditions of the caller,
   * nothing is read from the copy.
   */
  async open(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const { name } = options;
    if (name === "feed") return await this.#openFeed(ref, options);
    if (name === "proof") return await this.#reader.open(ref, options);
    return await this.#openDocument(ref, options);
  }

  /**
   * Makes what was read the copy: to be called after everything was verified
   * and accepted. A failure costs only the copy.
   */
  keep(): void {
    const fs = this.#fs;
    if (fs === undefined) return;
    if (this.#opened !== undefined) this.#recorder?.keep(this.#opened);
    writeDocuments(fs, `${this.#path}.documents`, this.#documents);
  }

  /** Closes the files, and removes what was not kept. */
  close(): void {
    this.#recorder?.discard();
    this.#copy?.close();
  }

  /** Calls {@linkcode close}, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #openDocument(
    ref: string,
    options: OpenOptions,
  ): Promise<OpenedDocument> {
    const { conditions, maxBytes, name } = options;
    const found = this.#useCopy ? this.#documents.get(name) : undefined;
    const held = found?.ref === ref && found.bytes.length <= maxBytes
      ? found
      : undefined;
    const document = await this.#reader.open(ref, {
      ...options,
      conditions: conditions ?? ifChanged(held?.etag),
    });
    if (document.unchanged) {
      if (conditions !== undefined || held === undefined) return document;
      await document.cancel();
      this.#usedCopy = true;
      return documentFromBytes(held);
    }
    const { etag, mediaType } = document;
    const bytes = await readAll(document, maxBytes);
    this.#documents.set(name, { ref, etag, mediaType, bytes });
    return documentFromBytes({ etag, mediaType, bytes });
  }

  async #openFeed(ref: string, options: OpenOptions): Promise<OpenedDocument> {
    const { conditions, maxBytes } = options;
    const { header } = this.#copy ?? {};
    const isUsable = this.#useCopy && conditions === undefined &&
      header?.ref === ref && header.bytes > 0 &&
      header.bytes <= Math.min(maxBytes, this.#maxCopyBytes);
    const continued = isUsable
      ? await this.#continue(this.#copy!, ref, options)
      : undefined;
    if (continued !== undefined) return continued;
    const document = await this.#reader.open(ref, options);
    if (document.unchanged) return document;
    return this.#recorded(ref, document, document.range?.first ?? 0);
  }

  /**
   * Opens the copy and what the server has appended. Returns undefined if the
   * end of the copy is not what the server has at this place.
   */
  async #continue(
    copy: FeedCopy,
    ref: string,
    options: OpenOptions,
  ): Promise<OpenedDocument | undefined> {
    const { bytes, etag } = copy.header;
    const from = Math.max(0, bytes - OVERLAP_BYTES);
    const conditions = { ...ifChanged(etag), range: { from } };
    let tail: OpenedDocument;
    try {
      tail = await this.#reader.open(ref, { ...options, conditions });
    } catch (error) {
      if (!isRangeRefused(error)) throw error;
      this.#sawDifference ||= isSigError(error, "fetch_status");
      return undefined;
    }
    if (tail.unchanged) {
      await tail.cancel();
      return this.#joined(ref, copy, { ...tail, bytes: nothing(), length: 0 });
    }
    if (tail.range === undefined) return this.#recorded(ref, tail, 0);
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
      this.#sawDifference = true;
      await stream.close();
      await tail.cancel();
      return undefined;
    }
    const length = tail.range.total - bytes;
    // Verifying the copy may take longer than a server waits.
    const first = await stream.take(MAX_TAKEN_BYTES);
    const served = chain([first], stream.rest());
    const rest = this.#recorded(ref, { ...tail, bytes: served }, bytes);
    return this.#joined(ref, copy, { ...rest, length });
  }

  /** Returns the copy, followed by a tail. */
  #joined(ref: string, copy: FeedCopy, tail: OpenedDocument): OpenedDocument {
    this.#usedCopy = true;
    const { bytes } = copy.header;
    const etag = tail.etag ?? copy.header.etag;
    const mediaType = tail.mediaType ?? copy.header.mediaType;
    this.#opened = { ref, etag, mediaType };
    return {
      bytes: chain(copy.pieces(bytes), tail.bytes),
      etag,
      mediaType,
      length: bytes + (tail.length ?? 0),
      cancel: () => tail.cancel(),
    };
  }

  /** Returns a document whose bytes from an offset on are recorded. */
  #recorded(
    ref: string,
    document: OpenedDocument,
    from: number,
  ): OpenedDocument {
    const { etag, mediaType } = document;
    this.#opened = { ref, etag, mediaType };
    if (this.#fs === undefined) return document;
    this.#recorder?.discard();
    const copy = this.#copy?.header.ref === ref ? this.#copy : undefined;
    this.#recorder = new FeedRecorder(this.#fs, this.#path, copy, from);
    return { ...document, bytes: this.#recorder.follow(document.bytes) };
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

function ifChanged(etag: string | null | undefined) {
  return etag ? { ifNoneMatch: etag } : undefined;
}

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
  const text = new TextEncoder().encode(metadataRef);
  const digest = await crypto.subtle.digest("SHA-256", text);
  return `${folder}/${new Uint8Array(digest).toHex()}`;
}

function readDocuments(
  fs: Files | undefined,
  path: string,
): Map<DocumentName, HeldDocument> {
  try {
    const entries: [DocumentName, Omit<HeldDocument, "bytes">, string][] = JSON
      .parse(fs!.readFileSync(path, "utf8"));
    const found = entries.filter(([, label]) => isLabel({ ...label }));
    return new Map(found.map(([name, { ref, etag, mediaType }, base64]) => {
      const bytes = Uint8Array.fromBase64(base64);
      return [name, { ref, etag, mediaType, bytes }];
    }));
  } catch {
    return new Map();
  }
}

function writeDocuments(
  fs: Files,
  path: string,
  documents: ReadonlyMap<DocumentName, HeldDocument>,
): void {
  const entries = [...documents].map(([name, { bytes, ...label }]) =>
    [name, label, bytes.toBase64()] as const
  );
  const part = `${path}.${crypto.randomUUID()}.part`;
  try {
    fs.writeFileSync(part, JSON.stringify(entries), {
      mode: 0o600,
      flag: "wx",
    });
    fs.renameSync(part, path);
  } catch {
    // The documents are fetched again.
  }
}
