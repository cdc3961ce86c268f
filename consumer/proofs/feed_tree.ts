/**
 * Computes the trees over a feed's lines and subjects while it is read
 * (docs/protocol.md §13.2).
 *
 * @module
 */

import { isUpsert, type SigEvent, type UnknownEvent } from "@sig/core";
import { runInSlices, type Steps } from "@sig/core/internal";
import {
  childrenOf,
  EMPTY_HASH,
  leafHash,
  MAX_SUBJECT_BYTES,
  type Sha256,
  stateHash,
  type StateLeaf,
  stateLeaf,
  subjectKey,
  treeHash,
  TreeHasher,
} from "@sig/jose/proofs";
import { Sha256 as RunningSha256 } from "@sig/jose/internal";

/** The hashes after a number of events. */
interface FeedHashes {
  readonly root: Uint8Array;
  readonly bytes: number;
  /**
   * Computes the hash of the state tree in slices, once. Undefined if the start
   * of the feed was not read, or the feed has no state hash.
   */
  readonly state?: (
    yieldToEventLoop: () => Promise<void>,
  ) => Promise<Uint8Array>;
}

/**
 * Receives each verified line, and computes the hashes after chosen numbers of
 * events.
 */
export class FeedTree {
  readonly #sha256: Sha256;
  readonly #lines: TreeHasher;
  #subjects: Subjects | undefined;
  #bytes = 0;
  #wanted: ReadonlySet<number> = new Set();
  readonly #found = new Map<number, FeedHashes>();

  /** Starts at the first line, or after the lines that `start.peaks` cover. */
  constructor(
    sha256: Sha256,
    start?: { readonly size: number; readonly peaks: readonly Uint8Array[] },
  ) {
    this.#sha256 = sha256;
    this.#lines = new TreeHasher(sha256, start?.size, start?.peaks);
    if (start === undefined) this.#subjects = new Subjects(sha256);
  }

  /** The root of the tree over all lines so far. */
  get root(): Uint8Array {
    return this.#lines.root();
  }

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
    this.#lines.add(leafHash(this.#sha256, bytes));
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
    const { size } = this.#lines;
    if (!this.#wanted.has(size)) return;
    const state = this.#subjects?.snapshot();
    const hashes = { root: this.#lines.root(), bytes: this.#bytes };
    this.#found.set(size, state === undefined ? hashes : { ...hashes, state });
  }
}

const LF = Uint8Array.of(10);
/** Number of leaves per step: about a tenth of a millisecond. */
const LEAVES_PER_STEP = 8;

/**
 * A running digest for each subject, stored as text so that a million of them
 * fit.
 */
class Subjects {
  readonly #sha256: Sha256;
  /** The subject of each relationship's first upsert, as an index. */
  readonly #subjectOf = new Map<string, number>();
  readonly #numbers = new Map<string, number>();
  readonly #digests: string[] = [];
  readonly #bytes: number[] = [];

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  /**
   * Returns false for an upsert that changes a subject, which no proof can
   * show, unless it is void.
   */
  add(
    bytes: Uint8Array,
    event: SigEvent | UnknownEvent,
    isVoid: boolean,
  ): boolean {
    const index = this.#subjectOf.get(event.relationship_id) ??
      this.#begin(event);
    if (index === undefined) return true;
    const isMoved = isUpsert(event) && !isVoid &&
      this.#numbers.get(event.subject) !== index;
    if (isMoved) return false;
    const saved = this.#digests[index];
    const digest = saved === undefined
      ? new RunningSha256()
      : RunningSha256.load(saved)!;
    this.#digests[index] = digest.update(bytes).update(LF).save();
    this.#bytes[index] = (this.#bytes[index] ?? 0) + bytes.length + 1;
    return true;
  }

  #begin(event: SigEvent | UnknownEvent): number | undefined {
    if (!isUpsert(event)) return undefined;
    const { subject } = event;
    const index = this.#numbers.get(subject) ?? this.#numbers.size;
    this.#numbers.set(subject, index);
    this.#subjectOf.set(event.relationship_id, index);
    return index;
  }

  /** Returns a function that hashes the state tree over the lines so far. */
  snapshot(): NonNullable<FeedHashes["state"]> {
    const digests = this.#digests.slice();
    const bytes = this.#bytes.slice();
    let made: Promise<Uint8Array> | undefined;
    return (yieldToEventLoop) =>
      made ??= Promise.resolve(
        runInSlices(this.#hash(digests, bytes), yieldToEventLoop),
      );
  }

  *#hash(
    digests: readonly string[],
    bytes: readonly number[],
  ): Steps<Uint8Array> {
    const leaves: StateLeaf[] = [];
    for (const [subject, i] of this.#numbers) {
      if (i >= digests.length) break;
      if (i % LEAVES_PER_STEP === 0) yield;
      const digest = bytes[i]! > MAX_SUBJECT_BYTES
        ? EMPTY_HASH
        : RunningSha256.load(digests[i]!)!.digest();
      const key = subjectKey(this.#sha256, subject);
      leaves.push(stateLeaf(this.#sha256, key, digest));
    }
    return yield* hashInSteps(this.#sha256, leaves, 0);
  }
}

/** Does the same as {@linkcode stateHash}, in steps. */
function* hashInSteps(
  sha256: Sha256,
  leaves: readonly StateLeaf[],
  depth: number,
): Steps<Uint8Array> {
  if (leaves.length <= LEAVES_PER_STEP) {
    yield;
    return stateHash(sha256, leaves, depth);
  }
  const children: Uint8Array[] = [];
  for (const each of childrenOf(leaves, depth)) {
    children.push(yield* hashInSteps(sha256, each, depth + 1));
  }
  return treeHash(sha256, children);
}
