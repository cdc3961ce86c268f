/**
 * A copy of an issuer's published bytes on disk.
 *
 * In: a folder, the URL of the metadata, and the remembered feed. Out: the
 * documents and the feed of the copy, if they are exactly that feed; while a
 * feed is read, its bytes are recorded and compared with the copy; `keep` makes
 * them the copy. Two files for each issuer: the feed, and the documents.
 *
 * @module
 */

import type { DocumentName } from "../fetch/response_rules.ts";
import type { HeldDocument, HeldDocuments } from "../read/issuer_documents.ts";
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

const DOCUMENTS: RecordKind = { name: "documents" };

/** What the server said about a document. */
type Label = Omit<HeldDocument, "bytes">;

/** What is stored beside the bytes of the feed. */
interface Stored {
  readonly feed: Label & { readonly bytes: number } | null;
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
    | Pick<MirroredFeed, "bytes" | "sha256" | "comparedAt">
    | undefined;
  /**
   * Whether documents may be read from the copy. Without, the copy is only
   * compared and replaced.
   */
  readonly useCopy: boolean;
}

/** The remembered feed on disk, for a read that continues it. */
export interface MirroredFeed extends Label {
  /** Size in bytes. */
  readonly bytes: number;
  /** SHA-256, hexadecimal. */
  readonly sha256: string;
  /** When the feed was last compared from its first byte. */
  readonly comparedAt: Date;
  /** Its last bytes. Bytes that continue the feed must repeat them. */
  readonly overlap: Uint8Array;
  /** Yields all bytes. */
  pieces(): Iterable<Uint8Array>;
}

/**
 * The copy of an issuer's documents on disk. It is below verification: its bytes
 * are verified like fetched bytes, and deleting it costs only time. A folder
 * that another user may change is not used: with it, that user could do what the
 * server can. Several processes may use the same folder.
 *
 * The copy may be damaged, or of another history, and the issuer must not be
 * blamed for that: it is used only if its SHA-256 is the remembered one. So
 * other bytes of the server are the issuer's.
 *
 * Only the end of the copy is compared with what the server sends. A caller must
 * therefore read the whole feed from time to time (`useCopy: false`).
 */
export class Mirror {
  readonly #fs: Files;
  readonly #path: string;
  readonly #ref: string;
  #options: MirrorOptions;
  readonly #stored: Stored | undefined;
  #copy: FeedCopy | undefined;
  /** The feed that is read. */
  #replacement: Replacement | undefined;
  /** The label of the feed that was recorded to its end. */
  #recorded: Stored["feed"] = null;
  #differsAt: number | undefined;

  private constructor(
    [path, ref]: readonly [path: string, metadataRef: string],
    fs: Files,
    stored: Stored | undefined,
    options: MirrorOptions,
  ) {
    this.#path = path;
    this.#ref = ref;
    this.#fs = fs;
    this.#stored = stored;
    this.#options = options;
  }

  /**
   * Opens the copy of an issuer's documents for one read; the caller closes it.
   * Returns undefined without a folder that can be used, or for one that another
   * user owns or may change.
   *
   * @param metadataRef The URL of its metadata.
   */
  static async open(
    metadataRef: string,
    options: MirrorOptions,
  ): Promise<Mirror | undefined> {
    const path = await pathOf(options.folder, metadataRef);
    const fs = openFolder(options.folder, path);
    if (fs === undefined) return undefined;
    const stored = await readStored(fs, path, metadataRef);
    return new Mirror([path, metadataRef], fs, stored, options);
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

  /** The small documents of the copy. */
  get documents(): HeldDocuments {
    const stored = this.#options.useCopy && this.#stored?.documents || [];
    return new Map(
      stored.map(([name, { base64, ...label }]) =>
        [name, { ...label, bytes: Uint8Array.fromBase64(base64) }] as const
      ),
    );
  }

  /**
   * Returns the feed of the copy, if it is exactly what is remembered. All of it
   * is read.
   *
   * @param ref Where the feed is published.
   */
  feedAt(ref: string): MirroredFeed | undefined {
    const { useCopy, feed } = this.#options;
    const label = this.#stored?.feed;
    if (!useCopy || feed === undefined || label?.ref !== ref) return undefined;
    const copy = this.#openCopy();
    if (copy === undefined || copy.bytes === 0) return undefined;
    const from = Math.max(0, copy.bytes - OVERLAP_BYTES);
    const overlap = copy.read(from, OVERLAP_BYTES);
    return { ...label, ...feed, overlap, pieces: () => copy.pieces() };
  }

  /** Returns whether other bytes than the remembered ones were recorded, or fewer. */
  sawDifference(): boolean {
    if (this.dropIfChanged()) return false;
    const copy = this.#openCopy();
    return this.#differsAt !== undefined || copy !== undefined &&
        this.#recorded !== null && this.#recorded.bytes < copy.bytes;
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
   * Returns whether the copy that was opened has been changed since, by a fault
   * of the disk or by another program. It is then not used any more, also not to
   * be compared.
   */
  dropIfChanged(): boolean {
    const { feed } = this.#options;
    if (feed === undefined || (this.#copy?.hasSha256(feed.sha256) ?? true)) {
      return false;
    }
    this.#copy?.close();
    this.#copy = undefined;
    this.#differsAt = undefined;
    this.#options = { ...this.#options, feed: undefined };
    return true;
  }

  /** Passes on the bytes of the feed from an offset on, and records them. */
  async *record(
    served: AsyncIterable<Uint8Array>,
    from: number,
    label: Label,
  ): AsyncGenerator<Uint8Array> {
    const copy = this.#openCopy();
    const known = copy?.bytes ?? 0;
    this.#recorded = null;
    this.#replacement?.close();
    const replacement = new Replacement(this.#fs, this.#path);
    this.#replacement = replacement;
    for (const piece of copy?.pieces(from) ?? []) replacement.add(piece);
    let at = from;
    for await (const chunk of served) {
      if (at < known && this.#differsAt === undefined) {
        const held = copy?.read(at, chunk.length) ?? chunk;
        const same = commonLength(held, chunk);
        if (same < held.length) this.#differsAt = at + same;
      }
      replacement.add(chunk);
      at += chunk.length;
      yield chunk;
    }
    this.#recorded = { ...label, bytes: at };
  }

  /**
   * Makes what was recorded the copy: to be called after everything was verified
   * and accepted. A failure costs only the copy.
   */
  async keep(documents: HeldDocuments): Promise<void> {
    const isKept = this.#recorded !== null && this.#replacement?.keep();
    const stored: Stored = {
      feed: isKept ? this.#recorded : this.#stored?.feed ?? null,
      documents: [...documents].map(([name, { bytes, ...label }]) =>
        [name, { ...label, base64: bytes.toBase64() }] as const
      ),
    };
    const id = { kind: DOCUMENTS, id: this.#ref };
    const file = new Replacement(this.#fs, `${this.#path}.documents`);
    file.add(new TextEncoder().encode(await encodeRecord(id, stored)));
    file.keep();
    file.close();
  }

  /** Closes the files, and removes what was not kept. */
  close(): void {
    this.#replacement?.close();
    this.#copy?.close();
  }

  /** Opens the copy at its first use, since all of it is read. */
  #openCopy(): FeedCopy | undefined {
    const { feed } = this.#options;
    if (feed === undefined || feed.bytes !== this.#stored?.feed?.bytes) {
      return undefined;
    }
    return this.#copy ??= FeedCopy.open(this.#fs, this.#path, feed);
  }
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

/** Returns the number of equal bytes at the start. */
function commonLength(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a[at] === b[at]) at++;
  return at;
}
