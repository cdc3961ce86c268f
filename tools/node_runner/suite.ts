/** What the runner runs: cases out of files, and those that went wrong. @module */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What came of a suite. */
export interface SuiteResult {
  /** Cases looked at; a suite without any has failed. */
  readonly cases: number;
  /** Names of the cases that did not come out as required. */
  readonly wrong: readonly string[];
}

/** Runs the cases of one kind; the argument is the folder of vectors. */
export type Suite = (vectors: string) => SuiteResult | Promise<SuiteResult>;

/** A JSON file of the folder. */
export function readJson<T>(vectors: string, path: string): T {
  return JSON.parse(readFileSync(join(vectors, path), "utf8")) as T;
}

/** The files of a folder within the folder, by name. */
export function readFiles(
  vectors: string,
  path: string,
): readonly (readonly [string, Uint8Array])[] {
  const folder = join(vectors, path);
  return readdirSync(folder).sort().map((name) => [
    name,
    new Uint8Array(readFileSync(join(folder, name))),
  ]);
}

/** Counts cases whose outcome is compared with the required one. */
export class Tally implements SuiteResult {
  cases = 0;
  readonly wrong: string[] = [];

  /** Notes a case. */
  expect(name: string, outcome: unknown, required: unknown): void {
    this.cases++;
    if (outcome !== required) this.wrong.push(name);
  }
}

/** Whether running succeeds; anything but the expected errors is thrown on. */
export async function isAccepted(
  run: () => unknown,
  isExpected: (error: unknown) => boolean,
): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (isExpected(error)) return false;
    throw error;
  }
}
