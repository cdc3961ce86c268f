/**
 * Computes the trees over a feed's lines and subjects while it is read
 * (docs/protocol.md §13.2).
 *
 * @module
 */

import type { hash } from "node:crypto";
import type { SigEvent, UnknownEvent } from "@sig/core";
import { loadBuiltin } from "@sig/jose/internal";
import { leafHash, TreeHasher } from "@sig/jose/proofs";
import { type StateHash, SubjectDigests } from "./subject_digests.ts";

/** The hashes after a number of events. */
interface FeedHashes {
  readonly root: Uint8Array;
  readonly bytes: number;
  /**
   * The hash of the state tree. Undefined if the start of the feed was not
   * read, or the feed has no state hash.
   */
  readonly state?: StateHash;
}

/**
 * Receives each verified line, and computes the hashes after chosen numbers of
 * events.
 */
export class FeedTree {
  /** The tree over all lines so far. */
  readonly lines = new LineTree();
  #subjects: SubjectDigests | undefined = new SubjectDigests();
  #bytes = 0;
  #wanted: ReadonlySet<number> = new Set();
  readonly #found = new Map<number, FeedHashes>();

  /** Sets the numbers of events for which {@linkcode at} will be called. */
  want(sizes: Iterable<number>): void {
    this.#wanted = new Set(sizes);
    this.#found.clear();
    this.#storeHashes();
  }

  /**
   * Adds the next line, without its LF. The trees depend on the feed alone:
   * void events are in them.
   */
  add(
    bytes: Uint8Array,
    event: SigEvent | UnknownEvent,
    isVoid = false,
  ): void {
    this.lines.add(bytes);
    this.#bytes += bytes.length + 1;
    if (this.#subjects?.add(bytes, event, isVoid) === false) this.endState();
    this.#storeHashes();
  }

  /** Returns the hashes after a wanted number of events. */
  at(size: number): FeedHashes | undefined {
    return this.#found.get(size);
  }

  /** Discards the subjects: later hashes have no state hash. */
  endState(): void {
    this.#subjects = undefined;
  }

  #storeHashes(): void {
    const { size } = this.lines;
    if (!this.#wanted.has(size)) return;
    const state = this.#subjects?.snapshot();
    const hashes = { root: this.lines.root(), bytes: this.#bytes };
    this.#found.set(size, state === undefined ? hashes : { ...hashes, state });
  }
}

/**
 * Number of lines after which `node:crypto` is used: by then, the verification
 * of signatures has loaded it too.
 */
const FEW_LINES = 256;

/** The tree over the lines so far, of which each is hashed once. */
export class LineTree {
  readonly #tree = new TreeHasher();
  #leafHash = leafHash;

  /** The number of lines. */
  get size(): number {
    return this.#tree.size;
  }

  /** Adds the next line, without its LF. */
  add(line: Uint8Array): void {
    if (this.size === FEW_LINES) this.#leafHash = loadLeafHash();
    this.#tree.add(this.#leafHash(line));
  }

  /** Returns the root of the tree. */
  root(): Uint8Array {
    return this.#tree.root();
  }
}

/** Returns the platform's hash, which takes a fifth of the time of ours. */
function loadLeafHash(): (line: Uint8Array) => Uint8Array {
  const crypto = loadBuiltin("node:crypto") as
    | { readonly hash?: typeof hash }
    | undefined;
  if (!crypto?.hash || !("fromHex" in Uint8Array)) return leafHash;
  const sha256 = crypto.hash;
  // Begins with the 0 that precedes a leaf.
  let leaf = new Uint8Array(4096);
  return (line) => {
    if (leaf.length <= line.length) leaf = new Uint8Array(2 * line.length);
    leaf.set(line, 1);
    const given = leaf.subarray(0, 1 + line.length);
    // Of all encodings, hexadecimal takes the least time.
    return Uint8Array.fromHex(sha256("sha256", given, "hex"));
  };
}
