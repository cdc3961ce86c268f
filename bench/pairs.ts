/**
 * Compares the time of two functions in one run. Machines drift within minutes,
 * so only the ratio of neighbouring runs, and the median of many, is reliable.
 *
 * @module
 */

import { cpuUsage } from "node:process";

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[half]!
    : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Returns the CPU time of this process and its threads in milliseconds. */
export function processorMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** Medians of the times of A and B (ms), and of A / B of each pair. */
interface Medians {
  readonly a: number;
  readonly b: number;
  readonly ratio: number;
}

/** The result of a comparison. */
export interface Pairs extends Medians {
  /**
   * The same for CPU time on all cores. It says less about the waiting time,
   * but hardly changes when other processes use the cores.
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

/**
 * Runs each work once, then all of them in rounds, in reverse order in every
 * second one: A B B A A B …
 *
 * @returns the results of each work.
 */
export async function alternate<T>(
  works: readonly (() => Promise<T>)[],
  rounds: number,
): Promise<readonly (readonly T[])[]> {
  for (const work of works) await work();
  const results = works.map((): T[] => []);
  for (let round = 0; round < rounds; round++) {
    const order = [...works.keys()];
    if (round % 2 === 1) order.reverse();
    for (const at of order) results[at]!.push(await works[at]!());
  }
  return results;
}

/** Compares the times of two works. */
export async function comparePairs(
  a: () => unknown,
  b: () => unknown,
  pairs = 21,
): Promise<Pairs> {
  const works = [() => timed(a), () => timed(b)];
  const [as = [], bs = []] = await alternate(works, pairs);
  const summary = (name: keyof Timed) => ({
    a: median(as.map((each) => each[name])),
    b: median(bs.map((each) => each[name])),
    ratio: median(as.map((each, i) => each[name] / bs[i]![name])),
  });
  return { ...summary("wall"), processor: summary("processor") };
}
