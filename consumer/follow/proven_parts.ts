/** The last proven relationships of the subjects of one issuer. @module */

import type { ProofQuestion } from "./bounds.ts";
import type { Part } from "./reading.ts";

/** Maximum number of subjects of one issuer, and size of their lines. */
const MAX_PARTS = 1_000;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Keeps the last proven part of the most recently used subjects: what a proof
 * showed counts for every later question about that subject.
 */
export class ProvenParts {
  /** In order of the last use. */
  readonly #parts = new Map<string, Part>();
  /** Size in bytes. */
  bytes = 0;
  /** Number of parts that were proven. */
  reads = 0;
  /** Size of the feed according to the last proof. */
  feedBytes = Infinity;

  /** Returns the part that can answer a question. */
  find({ subject, asOf = 0, isPast }: ProofQuestion): Part | undefined {
    const part = this.#parts.get(subject);
    if (part === undefined) return undefined;
    this.#parts.delete(subject);
    this.#parts.set(subject, part);
    const isEnough = (part.isPast || !isPast) && asOf <= part.size;
    return isEnough ? part : undefined;
  }

  /** Keeps a part in place of the former one of its subject. */
  keep(part: Part): void {
    this.reads++;
    this.feedBytes = part.feedBytes;
    this.#remove(part.subject);
    this.#parts.set(part.subject, part);
    this.bytes += part.heldBytes;
    for (const subject of this.#parts.keys()) {
      const isFull = this.#parts.size > MAX_PARTS || this.bytes > MAX_BYTES;
      if (!isFull) return;
      this.#remove(subject);
    }
  }

  #remove(subject: string): void {
    this.bytes -= this.#parts.get(subject)?.heldBytes ?? 0;
    this.#parts.delete(subject);
  }
}
