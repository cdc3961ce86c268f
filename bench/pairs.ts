/**
 * Timing two ways of doing a thing in one run. Machines drift within minutes:
 * only the ratio of neighbours, and the median of many, can be relied upon.
 *
 * @module
 */

import { cpuUsage } from "node:process";

/** The median of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[half]!
    : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Processor time that this process and its threads have used, in ms. */
export function processorMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** Medians of A's and B's times, in ms, and of A / B, pair by pair. */
interface Medians {
  readonly a: number;
  readonly b: number;
  readonly ratio: number;
}

/** What came of timing A against B. */
export interface Pairs extends Medians {
  /**
   * The same of processor time, on all cores: it says less of how long
   * somebody waits, and hardly changes when others want the cores as well.
   */
  readonly processor: Medians;
}

interface Timed {
  readonly wall: number;
  readonly processor: number;
}

async function timed(work: () => unknown): Promise<Timed> {
  const start = performance.now();
  const used = processorMs();
  await work();
  return { wall: performance.now() - start, processor: processorMs() - used };
}

/** Runs A B B A B A A B …, after one warm-up of each. */
export async function comparePairs(
  a: () => unknown,
  b: () => unknown,
  pairs = 21,
): Promise<Pairs> {
  await a();
  await b();
  const as: Timed[] = [];
  const bs: Timed[] = [];
  for (let i = 0; i < pairs; i++) {
    if (i % 2 === 0) {
      as.push(await timed(a));
      bs.push(await timed(b));
    } else {
      bs.push(await timed(b));
      as.push(await timed(a));
    }
  }
  const summary = (name: keyof Timed) => ({
    a: median(as.map((each) => each[name])),
    b: median(bs.map((each) => each[name])),
    ratio: median(as.map((each, i) => each[name] / bs[i]![name])),
  });
  return { ...summary("wall"), processor: summary("processor") };
}
