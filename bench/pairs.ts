/**
 * Timing two ways of doing a thing in one run. Machines drift within minutes:
 * only the ratio of neighbours, and the median of many, can be relied upon.
 *
 * @module
 */

/** The median of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[half]!
    : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** What came of timing A against B. */
export interface Pairs {
  /** Median of A's times, in ms. */
  readonly a: number;
  /** Median of B's times, in ms. */
  readonly b: number;
  /** Median of A / B, pair by pair. */
  readonly ratio: number;
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Runs A B B A B A A B …, after one warm-up of each. */
export async function comparePairs(
  a: () => unknown,
  b: () => unknown,
  pairs = 21,
): Promise<Pairs> {
  await a();
  await b();
  const as: number[] = [];
  const bs: number[] = [];
  for (let i = 0; i < pairs; i++) {
    if (i % 2 === 0) {
      as.push(await timed(a));
      bs.push(await timed(b));
    } else {
      bs.push(await timed(b));
      as.push(await timed(a));
    }
  }
  return {
    a: median(as),
    b: median(bs),
    ratio: median(as.map((time, i) => time / bs[i]!)),
  };
}
