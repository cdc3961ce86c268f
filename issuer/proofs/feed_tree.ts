/** The Merkle tree of the feed's lines, continued from its tiles. @module */

import { joinBytes, sameBytes } from "@sig/core/internal";
import {
  type Checkpoint,
  HASH_BYTES,
  hashInTile,
  leafHash,
  peaksOf,
  proofInvalid,
  TILE_WIDTH,
  TileHashes,
  tileOfNode,
  tilePath,
  tilesSince,
  TreeHasher,
  type TreeNode,
} from "@sig/jose/proofs";
import type { ReadProofFile } from "./state_update.ts";

/** The tree of a feed, and its new tiles. */
export class FeedTree {
  readonly #read: ReadProofFile;
  readonly #old: number;
  readonly #tree: TreeHasher;
  readonly #made = new TileHashes();

  /** @param tree the tree of the last checkpoint (default: no leaves). */
  constructor(read: ReadProofFile, tree: TreeHasher = new TreeHasher()) {
    this.#read = read;
    this.#old = tree.size;
    this.#tree = tree;
  }

  /**
   * Reads the tree of a checkpoint, to be continued.
   *
   * @param lastLine the feed's line of that size, without its LF.
   * @returns undefined if the signed tree has another last line.
   * @throws {SigError} `proof_invalid` if the tiles do not match the tree.
   */
  static async continued(
    read: ReadProofFile,
    { root, size }: Pick<Checkpoint, "root" | "size">,
    lastLine: Uint8Array,
  ): Promise<FeedTree | undefined> {
    if (size === 0) return new FeedTree(read);
    const hashOf = async (node: TreeNode) => {
      const path = tilePath(tileOfNode(node, size));
      return hashInTile(node, await read(path));
    };
    const peaks = await Promise.all(peaksOf(size - 1).map(hashOf));
    const tree = new TreeHasher(size - 1, peaks);
    const last = await hashOf({ level: 0, index: size - 1 });
    tree.add(last);
    if (!sameBytes(tree.root(), root)) {
      throw proofInvalid("the tiles are not those of the checkpoint");
    }
    return sameBytes(last, leafHash(lastLine))
      ? new FeedTree(read, tree)
      : undefined;
  }

  get size(): number {
    return this.#tree.size;
  }

  root(): Uint8Array {
    return this.#tree.root();
  }

  /** Adds a line, without its LF. */
  add(line: Uint8Array): void {
    this.#tree.add(leafHash(line), this.#made.collect);
  }

  /** Returns the new tiles by path, and the partial tiles that they replace. */
  async newTiles(): Promise<{
    readonly made: ReadonlyMap<string, Uint8Array>;
    readonly left: readonly string[];
  }> {
    const made = new Map<string, Uint8Array>();
    const left: string[] = [];
    for (const tile of tilesSince(this.#old, this.size)) {
      const first = tile.index * TILE_WIDTH;
      const known = Math.floor(this.#old / TILE_WIDTH ** tile.level) - first;
      const parts: Uint8Array[] = [];
      if (known > 0) {
        const path = tilePath({ ...tile, width: known });
        parts.push((await this.#read(path)).slice(0, known * HASH_BYTES));
        left.push(path);
      }
      parts.push(this.#made.bytesOf(tile, Math.max(0, known)));
      made.set(tilePath(tile), joinBytes(parts));
    }
    return { made, left };
  }
}
