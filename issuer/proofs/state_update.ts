/** Updates the tree of the feed's subjects with new lines. @module */

import { isSigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import {
  childrenOf,
  EMPTY_HASH,
  groupBySubject,
  MAX_SUBJECT_BYTES,
  pageFile,
  type PlacedLine,
  proofInvalid,
  readStateFile,
  type StateFile,
  stateFiles,
  type StateNode,
  statePath,
  type SubjectLines,
} from "@sig/jose/proofs";

/** Reads a proof file; throws `proof_invalid` if it is missing. */
export type ReadProofFile = (path: string) => Promise<Uint8Array>;

export type WriteProofFiles = (
  files: ReadonlyMap<string, Uint8Array>,
) => Promise<void>;

/** Number of bytes after which the collected files are written. */
const MAX_UNWRITTEN = 4 * 1024 * 1024;

/** A new line, and the key of its subject. */
export interface NewLine extends PlacedLine {
  /** {@linkcode subjectKey} of the first upsert's subject. */
  readonly key: Uint8Array;
}

/** One update of the state tree: the files it writes and those it replaces. */
export class StateUpdate {
  readonly #read: ReadProofFile;
  readonly #write: WriteProofFiles | undefined;
  readonly #made = new Map<string, Uint8Array>();
  #bytes = 0;
  readonly #left: string[] = [];

  /**
   * @param write called with files as soon as they exceed a size (default:
   * never).
   */
  constructor(read: ReadProofFile, write?: WriteProofFiles) {
    this.#read = read;
    this.#write = write;
  }

  /** Files that are still to be written, by path. */
  get newFiles(): ReadonlyMap<string, Uint8Array> {
    return this.#made;
  }

  /** Files of the previous tree that this update replaces or moves. */
  get left(): readonly string[] {
    return this.#left;
  }

  /**
   * Adds lines to a node and returns its new hash. Reads only the files on the
   * path to the subjects.
   *
   * @param depth number of digits that the keys of the node share.
   * @throws {SigError} `proof_invalid` if a file is missing or damaged, or
   * contradicts the index.
   */
  async extend(
    hash: Uint8Array,
    added: readonly NewLine[],
    depth = 0,
  ): Promise<Uint8Array> {
    const [first] = added;
    if (first === undefined) return hash;
    if (sameBytes(hash, EMPTY_HASH)) return await this.#build(added, [], depth);
    const path = statePath(hash);
    const node = await this.#readNode(hash, path, first.key, depth);
    this.#left.push(path);
    if (node.kind === "too_large") {
      const others = added.filter(({ key }) => !sameBytes(key, node.key));
      return await this.#build(others, [standIn(node.key)], depth);
    }
    if (node.kind === "lines") {
      const lines = node.subjects.flatMap((each) => each.lines);
      return await this.#build([...lines, ...added], [], depth);
    }
    const children: Uint8Array[] = [];
    for (const [digit, lines] of childrenOf(added, depth).entries()) {
      const child = node.children[digit]!;
      children.push(await this.extend(child, lines, depth + 1));
    }
    return this.#keep(pageFile(children));
  }

  async #readNode(
    hash: Uint8Array,
    path: string,
    key: Uint8Array,
    depth: number,
  ): Promise<StateNode> {
    const file = { hash, bytes: await this.#read(path) };
    try {
      return readStateFile(file, key, depth);
    } catch (error) {
      if (!isSigError(error)) throw error;
      throw proofInvalid(`${path} is damaged: ${error.reason}`);
    }
  }

  async #build(
    lines: readonly PlacedLine[],
    others: readonly SubjectLines[],
    depth: number,
  ): Promise<Uint8Array> {
    const begun = new Set(
      lines.filter(({ event }) => event.event_type === "relationship.upsert")
        .map(({ event }) => event.relationship_id),
    );
    if (!lines.every(({ event }) => begun.has(event.relationship_id))) {
      throw proofInvalid("a state file lacks a relationship of its subject");
    }
    const groups = groupBySubject(lines);
    const files = stateFiles([...groups, ...others], depth);
    for (;;) {
      const { done, value } = files.next();
      if (done) return value;
      this.#keep(value);
      if (this.#write === undefined || this.#bytes < MAX_UNWRITTEN) continue;
      await this.#write(this.#made);
      this.#made.clear();
      this.#bytes = 0;
    }
  }

  #keep(file: StateFile): Uint8Array {
    this.#made.set(statePath(file.hash), file.bytes);
    this.#bytes += file.bytes.length;
    return file.hash;
  }
}

/** Replaces lines that are too large for a state file. */
function standIn(key: Uint8Array): SubjectLines {
  const event = { sequence: 0 } as PlacedLine["event"];
  const bytes = new Uint8Array(MAX_SUBJECT_BYTES);
  return { subject: "", key, lines: [{ event, bytes }] };
}
