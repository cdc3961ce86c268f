/** Identifiers in the order of their code units, sorted once. @module */

import type { Steps } from "../text/steps.ts";

/** Identifiers sorted, or merged, in a step: about half a millisecond. */
const IDS_PER_STEP = 1_024;

/**
 * Keeps the keys of a growing map sorted. They are sorted when they are first
 * asked for, in steps; later only what is new is sorted and merged in. All who
 * ask at the same time do the steps of one and the same work.
 */
export class SortedIds {
  readonly #all: ReadonlyMap<string, unknown>;
  #sorted: readonly string[] = [];
  #work: Steps<readonly string[]> | undefined;

  /** Of a map that never loses a key. */
  constructor(all: ReadonlyMap<string, unknown>) {
    this.#all = all;
  }

  /** All identifiers that were there when this was asked; it may be more. */
  *sorted(): Steps<readonly string[]> {
    const wanted = this.#all.size;
    while (this.#sorted.length < wanted) {
      this.#work ??= this.#merge();
      const step = this.#work.next();
      if (step.done) {
        this.#sorted = step.value;
        this.#work = undefined;
      }
      yield;
    }
    // Replaced, never changed: who walks along it is not disturbed.
    return this.#sorted;
  }

  *#merge(): Steps<readonly string[]> {
    const known = this.#sorted.length;
    let runs: (readonly string[])[] = [];
    let run: string[] = [];
    let at = 0;
    for (const id of this.#all.keys()) {
      if (at++ >= known) {
        run.push(id);
        if (run.length === IDS_PER_STEP) {
          // Without a comparison of its own: by code units.
          runs.push(run.sort());
          run = [];
          yield;
        }
      } else if (at % (16 * IDS_PER_STEP) === 0) yield;
    }
    if (run.length > 0) runs.push(run.sort());
    while (runs.length > 1) {
      const longer: (readonly string[])[] = [];
      for (let i = 0; i < runs.length; i += 2) {
        longer.push(yield* mergeTwo(runs[i]!, runs[i + 1] ?? []));
      }
      runs = longer;
    }
    return yield* mergeTwo(this.#sorted, runs[0] ?? []);
  }
}

function* mergeTwo(
  a: readonly string[],
  b: readonly string[],
): Steps<readonly string[]> {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const merged: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const takesA = j === b.length || i < a.length && a[i]! < b[j]!;
    merged.push(takesA ? a[i++]! : b[j++]!);
    if (merged.length % (4 * IDS_PER_STEP) === 0) yield;
  }
  return merged;
}
