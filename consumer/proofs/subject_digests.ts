/**
 * The state tree of a feed that is being read (docs/protocol.md §13.2). Each
 * line is hashed once, into the running digest of its subject; leaves and nodes
 * are hashed once, after the feed was read.
 *
 * @module
 */

import { isUpsert, type SigEvent, type UnknownEvent } from "@sig/core";
import { runInSlices, type Steps } from "@sig/core/internal";
import { MAX_STATE_BYTES, Sha256State } from "@sig/jose/internal";
import {
  EMPTY_HASH,
  HASH_BYTES,
  MAX_SUBJECT_BYTES,
  stateLeaf,
  statePageHash,
  subjectKey,
} from "@sig/jose/proofs";

const LF = Uint8Array.of(10);
/** Subjects per block of saved states. */
const BLOCK_SUBJECTS = 1024;
/** Number of subjects per step: about a tenth of a millisecond. */
const SUBJECTS_PER_STEP = 16;

/** Computes the hash of the state tree in slices, once. */
export type StateHash = (
  yieldToEventLoop: () => Promise<void>,
) => Promise<Uint8Array>;

/** A number of events, after which lines may have been added. */
interface Snapshot {
  /** The number of subjects then. */
  readonly subjects: number;
  /** The digests then, of the subjects that have more lines now. */
  readonly replaced: Map<number, Uint8Array>;
}

/** A running digest for each subject of a feed. */
export class SubjectDigests {
  /** The subject of each relationship's first upsert, as an index. */
  readonly #subjectOf = new Map<string, number>();
  readonly #numbers = new Map<string, number>();
  /** Saved states, {@linkcode BLOCK_SUBJECTS} in each block. */
  readonly #blocks: Uint8Array[] = [];
  readonly #state = new Sha256State();
  readonly #snapshots: Snapshot[] = [];

  /**
   * Adds the next line, without its LF. Returns false for an upsert that
   * changes a subject, which no proof can show, unless it is void.
   */
  add(
    bytes: Uint8Array,
    event: SigEvent | UnknownEvent,
    isVoid: boolean,
  ): boolean {
    let index = this.#subjectOf.get(event.relationship_id);
    if (index === undefined) {
      if (!isUpsert(event)) return true;
      index = this.#numberOf(event.subject);
      this.#subjectOf.set(event.relationship_id, index);
    }
    const isMoved = isUpsert(event) && !isVoid &&
      this.#numbers.get(event.subject) !== index;
    if (isMoved) return false;
    for (const { replaced, subjects } of this.#snapshots) {
      if (index < subjects && !replaced.has(index)) {
        replaced.set(index, this.#saved(index).slice());
      }
    }
    const saved = this.#saved(index);
    this.#state.loadFrom(saved, 0).update(bytes).update(LF).saveTo(saved, 0);
    return true;
  }

  /** Returns a function that hashes the state tree over the lines so far. */
  snapshot(): StateHash {
    const snapshot = { subjects: this.#numbers.size, replaced: new Map() };
    this.#snapshots.push(snapshot);
    let made: Promise<Uint8Array> | undefined;
    return (yieldToEventLoop) =>
      made ??= Promise.resolve(
        runInSlices(this.#hash(snapshot), yieldToEventLoop),
      );
  }

  #numberOf(subject: string): number {
    const found = this.#numbers.get(subject);
    if (found !== undefined) return found;
    const index = this.#numbers.size;
    this.#numbers.set(subject, index);
    if (index % BLOCK_SUBJECTS === 0) {
      this.#blocks.push(new Uint8Array(BLOCK_SUBJECTS * MAX_STATE_BYTES));
    }
    this.#state.reset().saveTo(this.#saved(index), 0);
    return index;
  }

  /** Returns the saved state of a subject, in place. */
  #saved(index: number): Uint8Array {
    const block = this.#blocks[Math.floor(index / BLOCK_SUBJECTS)]!;
    const at = index % BLOCK_SUBJECTS * MAX_STATE_BYTES;
    return block.subarray(at, at + MAX_STATE_BYTES);
  }

  *#hash({ subjects, replaced }: Snapshot): Steps<Uint8Array> {
    const leaves = new Leaves(subjects);
    for (const [subject, i] of this.#numbers) {
      if (i >= subjects) break;
      if ((i + 1) % SUBJECTS_PER_STEP === 0) yield;
      this.#state.loadFrom(replaced.get(i) ?? this.#saved(i), 0);
      const digest = this.#state.bytes > MAX_SUBJECT_BYTES
        ? EMPTY_HASH
        : this.#state.finish();
      leaves.set(i, subjectKey(subject), digest);
    }
    return yield* leaves.hash(0, subjects, 0);
  }
}

/** The leaves of the state tree, in two arrays that are sorted by key. */
class Leaves {
  readonly #keys: Uint8Array;
  readonly #hashes: Uint8Array;
  /** The numbers of the leaves, sorted by the digits so far. */
  readonly #order: Uint32Array;
  readonly #sorted: Uint32Array;

  constructor(count: number) {
    this.#keys = new Uint8Array(count * HASH_BYTES);
    this.#hashes = new Uint8Array(count * HASH_BYTES);
    this.#order = Uint32Array.from({ length: count }, (_, i) => i);
    this.#sorted = new Uint32Array(count);
  }

  set(index: number, key: Uint8Array, digest: Uint8Array): void {
    this.#keys.set(key, index * HASH_BYTES);
    const { hash } = stateLeaf(key, digest);
    this.#hashes.set(hash, index * HASH_BYTES);
  }

  /** Returns the hash of the node of leaves that share `depth` digits. */
  *hash(from: number, to: number, depth: number): Steps<Uint8Array> {
    if (from === to) return EMPTY_HASH;
    if (to - from === 1) {
      const at = this.#order[from]! * HASH_BYTES;
      return this.#hashes.subarray(at, at + HASH_BYTES);
    }
    if (to - from >= SUBJECTS_PER_STEP) yield;
    const ends = this.#sort(from, to, depth);
    const children: Uint8Array[] = [];
    for (const [digit, end] of ends.entries()) {
      const begin = ends[digit - 1] ?? from;
      children.push(yield* this.hash(begin, end, depth + 1));
    }
    return statePageHash(children);
  }

  /** Sorts leaves by a digit; returns the end of each digit's leaves. */
  #sort(from: number, to: number, depth: number): number[] {
    const ends: number[] = new Array(16).fill(0);
    for (let i = from; i < to; i++) ends[this.#digit(i, depth)]!++;
    let end = from;
    const next = ends.map((count) => (end += count) - count);
    for (let i = from; i < to; i++) {
      this.#sorted[next[this.#digit(i, depth)]!++] = this.#order[i]!;
    }
    this.#order.set(this.#sorted.subarray(from, to), from);
    return next;
  }

  #digit(i: number, depth: number): number {
    const byte = this.#keys[this.#order[i]! * HASH_BYTES + (depth >> 1)]!;
    return depth % 2 === 0 ? byte >> 4 : byte & 15;
  }
}
