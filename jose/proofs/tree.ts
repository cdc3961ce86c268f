/**
 * The Merkle tree of a feed's lines (RFC 6962 §2.1), and tiles of its hashes
 * (C2SP tlog-tiles).
 *
 * @module
 */

import { joinBytes, sameBytes } from "@sig/core/internal";
import { sha256 } from "../bytes/sha256.ts";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** Returns the hash of a leaf. */
export function leafHash(data: Uint8Array): Uint8Array {
  return sha256(LEAF, data);
}

/** Returns the hash of a node with two subtrees. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(NODE, left, right);
}

/** A perfect subtree with 2^`level` leaves. */
export interface TreeNode {
  /** The number of levels above the leaves. */
  readonly level: number;
  /** The number of subtrees of this size to its left. */
  readonly index: number;
}

/**
 * A tree to which leaves are added one by one. It keeps one hash for each set
 * bit of the size, so any feed needs a few hundred bytes at most.
 *
 * @example
 * ```ts
 * import { leafHash, TreeHasher } from "@sig/jose/proofs";
 * import { assertEquals } from "@std/assert";
 *
 * const tree = new TreeHasher();
 * tree.add(leafHash(new TextEncoder().encode("leaf 0")));
 * assertEquals(tree.size, 1);
 * assertEquals(tree.root().length, 32);
 * ```
 */
export class TreeHasher {
  /** Hashes of the perfect subtrees, from left to right. */
  readonly #peaks: Uint8Array[];
  #size: number;

  /**
   * Creates an empty tree, or continues one.
   *
   * @param peaks The hashes of {@linkcode peaksOf} this size, to continue a
   * tree, one for each set bit of the size.
   */
  constructor(size = 0, peaks: readonly Uint8Array[] = []) {
    if (peaks.length !== peaksOf(size).length) {
      throw new RangeError("Cannot continue tree: wrong number of peaks");
    }
    this.#size = size;
    this.#peaks = [...peaks];
  }

  /** Hashes of the perfect subtrees, from which to continue. */
  get peaks(): readonly Uint8Array[] {
    return [...this.#peaks];
  }

  /** The number of leaves so far. */
  get size(): number {
    return this.#size;
  }

  /**
   * Adds a leaf by its hash. `made` is called for each perfect subtree that the
   * leaf completes, beginning with the leaf itself.
   */
  add(leaf: Uint8Array, made?: (node: TreeNode, hash: Uint8Array) => void) {
    let hash = leaf;
    let index = this.#size++;
    made?.({ level: 0, index }, hash);
    for (let level = 1; index % 2 === 1; level++) {
      index = (index - 1) / 2;
      hash = nodeHash(this.#peaks.pop()!, hash);
      made?.({ level, index }, hash);
    }
    this.#peaks.push(hash);
  }

  /** Returns the tree hash; without leaves, the hash of no bytes. */
  root(): Uint8Array {
    return foldPeaks(this.#peaks);
  }
}

/** Returns the tree hash of the hashes of leaves or equal subtrees. */
export function treeHash(hashes: readonly Uint8Array[]): Uint8Array {
  const tree = new TreeHasher();
  for (const hash of hashes) tree.add(hash);
  return tree.root();
}

function foldPeaks(peaks: readonly Uint8Array[]): Uint8Array {
  if (peaks.length === 0) return sha256();
  return peaks.reduceRight((right, left) => nodeHash(left, right));
}

/** Returns the perfect subtrees of leaves from `from` to `to` (exclusive). */
function subtreesOf(from: number, to: number): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let at = from, level; at < to; at += 2 ** level) {
    for (level = 0; fits(level + 1, at, to);) level++;
    nodes.push({ level, index: at / 2 ** level });
  }
  return nodes;
}

function fits(level: number, at: number, to: number): boolean {
  return at % 2 ** level === 0 && at + 2 ** level <= to;
}

/** Returns the perfect subtrees of a whole tree, from left to right. */
export function peaksOf(size: number): readonly TreeNode[] {
  return subtreesOf(0, size);
}

/** Returns the ranges of leaves whose tree hashes form a proof, in order. */
function proofRanges(old: number, size: number): [number, number][] {
  const ranges: [number, number][] = [];
  let [from, to, isOldRoot] = [0, size, true];
  while (from + old !== to) {
    let half = 1;
    while (2 * half < to - from) half *= 2;
    if (old <= half) {
      ranges.push([from + half, to]);
      to = from + half;
    } else {
      ranges.push([from, from + half]);
      from += half;
      old -= half;
      isOldRoot = false;
    }
  }
  if (!isOldRoot) ranges.push([from, to]);
  return ranges.reverse();
}

/**
 * Creates the consistency proof from the first `old` leaves to all `size`
 * leaves (RFC 6962 §2.1.2) from hashes of perfect subtrees, which tiles
 * contain.
 *
 * @param old The smaller size, from 1 to `size`.
 */
export async function proveConsistency(
  old: number,
  size: number,
  hashOf: (node: TreeNode) => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array[]> {
  return await Promise.all(
    proofRanges(old, size).map(async ([from, to]) =>
      foldPeaks(
        await Promise.all(subtreesOf(from, to).map((node) => hashOf(node))),
      )
    ),
  );
}

/** A consistency proof between two sizes of a tree. */
export interface Consistency {
  /** The number of leaves of the smaller tree. */
  readonly old: number;
  /** The tree hash of the smaller tree. */
  readonly oldRoot: Uint8Array;
  /** The number of leaves of the larger tree. */
  readonly size: number;
  /** The tree hash of the larger tree. */
  readonly root: Uint8Array;
  /** The hashes of the proof (RFC 6962 §2.1.2). */
  readonly proof: readonly Uint8Array[];
}

/**
 * Returns whether the proof shows that the larger tree begins with the leaves
 * of the smaller tree (RFC 9162 §2.1.4.2); `false` for any fault.
 */
export function verifyConsistency(
  { old, oldRoot, size, root, proof }: Consistency,
): boolean {
  if (!(old > 0 && old <= size)) return false;
  if (old === size) return proof.length === 0 && sameBytes(oldRoot, root);
  const path = Number.isInteger(Math.log2(old)) ? [oldRoot, ...proof] : proof;
  let [node, last] = [old - 1, size - 1];
  for (; node % 2 === 1; node = half(node)) last = half(last);
  let [oldHash, newHash] = [path[0], path[0]];
  if (oldHash === undefined || newHash === undefined) return false;
  for (const hash of path.slice(1)) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      oldHash = nodeHash(hash, oldHash);
      newHash = nodeHash(hash, newHash);
      for (; node % 2 === 0 && node !== 0; node = half(node)) last = half(last);
    } else newHash = nodeHash(newHash, hash);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && sameBytes(oldHash, oldRoot) && sameBytes(newHash, root);
}

/** Divides by 2. `>> 1` would fail for sizes beyond 32 bits. */
function half(n: number): number {
  return Math.floor(n / 2);
}

/** The number of tree levels in a tile. */
const HEIGHT = 8;
/** The number of hashes in a full tile. */
export const TILE_WIDTH = 256;
/** Size of a hash in bytes. */
export const HASH_BYTES = 32;

/** A tile, full or partial. */
export interface Tile {
  /** The number of levels of tiles below it. */
  readonly level: number;
  /** The number of tiles to its left. */
  readonly index: number;
  /** The number of hashes in it, from 1 to 256. */
  readonly width: number;
}

/**
 * Returns the path of a tile below `proofs_uri`.
 *
 * @example
 * ```ts
 * import { tilePath } from "@sig/jose/proofs";
 * import { assertEquals } from "@std/assert";
 *
 * const path = tilePath({ level: 0, index: 1234067, width: 8 });
 * assertEquals(path, "tile/0/x001/x234/067.p/8");
 * ```
 */
export function tilePath({ level, index, width }: Tile): string {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, "0");
  const parts = padded.match(/.{3}/g) ?? [];
  const name = parts.map((part, i) => i < parts.length - 1 ? `x${part}` : part);
  const partial = width === TILE_WIDTH ? "" : `.p/${width}`;
  return `tile/${level}/${name.join("/")}${partial}`;
}

/**
 * Returns the tiles that a tree of `size` leaves adds to one of `old` leaves,
 * the lowest level first.
 */
export function tilesSince(old: number, size: number): readonly Tile[] {
  const tiles: Tile[] = [];
  for (let level = 0; size > 0; level++) {
    for (
      let index = Math.floor(old / TILE_WIDTH);
      index * 256 < size;
      index++
    ) {
      const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
      if (index * TILE_WIDTH + width > old) tiles.push({ level, index, width });
    }
    old = Math.floor(old / TILE_WIDTH);
    size = Math.floor(size / TILE_WIDTH);
  }
  return tiles;
}

/** Collects the hashes of tiles while a tree grows. */
export class TileHashes {
  readonly #hashes = new Map<string, Uint8Array>();

  /** Collects a node; pass it to {@linkcode TreeHasher.add}. */
  readonly collect = ({ level, index }: TreeNode, hash: Uint8Array): void => {
    if (level % HEIGHT === 0) {
      this.#hashes.set(`${level / HEIGHT}/${index}`, hash);
    }
  };

  /** Returns the bytes of a tile, beginning at a hash (default: the first). */
  bytesOf({ level, index, width }: Tile, from = 0): Uint8Array {
    const hashes: Uint8Array[] = [];
    for (let at = from; at < width; at++) {
      hashes.push(this.#hashes.get(`${level}/${index * TILE_WIDTH + at}`)!);
    }
    return joinBytes(hashes);
  }
}

/** Returns the tile of a tree of `size` leaves with the hashes of a node. */
export function tileOfNode(node: TreeNode, size: number): Tile {
  const level = Math.floor(node.level / HEIGHT);
  const first = node.index * 2 ** (node.level - level * HEIGHT);
  const index = Math.floor(first / TILE_WIDTH);
  const hashes = Math.floor(size / 2 ** (level * HEIGHT));
  return {
    level,
    index,
    width: Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH),
  };
}

/** Calculates a node's hash from the bytes of {@linkcode tileOfNode}. */
export function hashInTile(node: TreeNode, bytes: Uint8Array): Uint8Array {
  const count = 2 ** (node.level % HEIGHT);
  const first = (node.index * count) % TILE_WIDTH;
  const hashes: Uint8Array[] = [];
  for (let i = first; i < first + count; i++) {
    hashes.push(bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES));
  }
  return treeHash(hashes);
}
