/**
 * Reads the files below `proofs_uri` as bytes (docs/protocol.md §13.1). @module
 */

import { isSigError, type SigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import {
  digitOf,
  EMPTY_HASH,
  HASH_BYTES,
  hashInTile,
  invalidCheckpoint,
  MAX_CHECKPOINT_BYTES,
  MAX_PAGES,
  MAX_SUBJECT_BYTES,
  originOfProofs,
  peaksOf,
  proofInvalid,
  proveConsistency,
  readStateFile,
  siblingsOf,
  type StateNode,
  statePath,
  subjectKey,
  TILE_WIDTH,
  tileOfNode,
  tilePath,
  TreeHasher,
  type TreeNode,
  verifyConsistency,
} from "@sig/jose/proofs";
import { type DocumentReader, readAll } from "../read/reader.ts";

export interface Walk {
  /** The last node; undefined for a subject that has no entry. */
  readonly end: Exclude<StateNode, { kind: "page" }> | undefined;
  /** Number of pages above it, and of digits of the key that were used. */
  readonly depth: number;
  /** The siblings of the pages' children, from the last page up. */
  readonly path: readonly Uint8Array[];
}

export class ProofFiles {
  readonly #reader: DocumentReader;
  readonly #base: string;

  /** @param base `proofs_uri`. */
  constructor(reader: DocumentReader, base: string) {
    this.#reader = reader;
    this.#base = base;
  }

  /** `proofs_uri` without its scheme and final slash. */
  get origin(): string {
    return originOfProofs(this.#base);
  }

  /**
   * Reads the text of the checkpoint.
   *
   * @throws {SigError} `invalid_checkpoint`, and the errors of reading it.
   */
  async checkpoint(): Promise<string> {
    const tooLarge = invalidCheckpoint(
      `it is over ${MAX_CHECKPOINT_BYTES} bytes`,
    );
    const bytes = await this.#read(
      "checkpoint",
      MAX_CHECKPOINT_BYTES,
      tooLarge,
    );
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
        .decode(bytes);
    } catch {
      throw invalidCheckpoint("it is not UTF-8");
    }
  }

  /**
   * Follows a subject's key from the hash of a state tree. Compares each file
   * with its hash.
   *
   * @throws {SigError} `proof_invalid`, and the errors of reading a file.
   */
  async walk(state: Uint8Array, subject: string): Promise<Walk> {
    const key = subjectKey(subject);
    let path: readonly Uint8Array[] = [];
    let hash = state;
    for (let depth = 0;; depth++) {
      if (hash.every((byte) => byte === 0)) {
        return { end: undefined, depth, path };
      }
      const file = statePath(hash);
      const tooLarge = proofInvalid(
        `${file} is over ${MAX_SUBJECT_BYTES} bytes`,
      );
      const bytes = await this.#read(file, MAX_SUBJECT_BYTES, tooLarge);
      const node = readStateFile({ hash, bytes }, key, depth);
      if (node.kind !== "page") return { end: node, depth, path };
      if (depth === MAX_PAGES) {
        throw proofInvalid(`more than ${MAX_PAGES} pages lead to the subject`);
      }
      const digit = digitOf(key, depth);
      path = [...siblingsOf(node.children, digit), ...path];
      hash = node.children[digit] ?? EMPTY_HASH;
    }
  }

  /**
   * Returns whether the tiles prove that the larger tree starts with the
   * smaller one.
   *
   * @throws {SigError} `proof_invalid`, and the errors of reading a tile.
   */
  async isContinued(
    before: { readonly size: number; readonly root: Uint8Array },
    { size, root }: { readonly size: number; readonly root: Uint8Array },
  ): Promise<boolean> {
    // Every tree starts with the empty tree.
    if (before.size === 0) return true;
    const proof = await this.proveContinued(before.size, size);
    const claim = { old: before.size, oldRoot: before.root, size, root, proof };
    return verifyConsistency(claim);
  }

  /**
   * Returns the consistency proof from the first `old` leaves to all `size`
   * leaves, computed from tiles.
   *
   * @param old Number of leaves, from 1 to `size`.
   * @throws {SigError} `proof_invalid`, and the errors of reading a tile.
   */
  async proveContinued(old: number, size: number): Promise<Uint8Array[]> {
    return await proveConsistency(old, size, this.#hashesIn(size));
  }

  /**
   * Returns the hashes of the perfect subtrees of a tree, from which it can be
   * continued.
   *
   * @throws {SigError} `proof_invalid` if the tiles are not those of the root,
   * and the errors of reading a tile.
   */
  async peaks(
    { size, root }: { readonly size: number; readonly root: Uint8Array },
  ): Promise<readonly Uint8Array[]> {
    const hashOf = this.#hashesIn(size);
    const peaks = await Promise.all(peaksOf(size).map(hashOf));
    if (sameBytes(new TreeHasher(size, peaks).root(), root)) {
      return peaks;
    }
    throw proofInvalid("the tiles are not those of the checkpoint");
  }

  /** Returns a function that finds nodes in tiles; each tile is read once. */
  #hashesIn(size: number): (node: TreeNode) => Promise<Uint8Array> {
    const tiles = new Map<string, Promise<Uint8Array>>();
    return async (node) => {
      const tile = tileOfNode(node, size);
      const path = tilePath(tile);
      const bytes = tiles.get(path) ?? this.#readTile(path, tile.width);
      tiles.set(path, bytes);
      return hashInTile(node, await bytes);
    };
  }

  async #readTile(path: string, width: number): Promise<Uint8Array> {
    const wrong = proofInvalid(`${path} does not have ${width} hashes`);
    const bytes = await this.#read(path, TILE_WIDTH * HASH_BYTES, wrong);
    if (bytes.length !== width * HASH_BYTES) throw wrong;
    return bytes;
  }

  async #read(
    path: string,
    maxBytes: number,
    tooLarge: SigError,
  ): Promise<Uint8Array> {
    try {
      const options = { name: "proof", maxBytes } as const;
      const document = await this.#reader.open(this.#base + path, options);
      return await readAll(document, maxBytes);
    } catch (error) {
      throw isSigError(error, "document_too_large") ? tooLarge : error;
    }
  }
}
