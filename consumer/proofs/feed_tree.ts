/**
 * Computes the trees over a feed's lines and subjects while it is read
 * (docs/protocol.md §13.2).
 *
 * @module
 */

import type { SigEvent, UnknownEvent } from "@sig/core";
import { LineTree } from "./line_tree.ts";
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
