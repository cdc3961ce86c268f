/**
 * Verification with workers that fail. As a program it takes the code of
 * workers that throw: Deno prints a worker's error, here to the standard error
 * of a separate process. @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  feedOf,
  importTestKeys,
  lineOf,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import type { SignatureWorkers } from "../verify/signature_workers.ts";
import {
  ALONE,
  AT,
  chunksFor,
  CountedWorkers,
  good,
  outcome,
  withLines,
} from "./large_feed.ts";

const [, , stranger] = await importTestKeys();
const forged = await lineOf(upsert(AT + 1), stranger);

/** Replaces `Worker` while `run` runs. */
export async function withWorkers(
  replacement: unknown,
  run: () => Promise<void>,
): Promise<void> {
  const original = globalThis.Worker;
  Object.assign(globalThis, { Worker: replacement });
  try {
    await run();
  } finally {
    Object.assign(globalThis, { Worker: original });
  }
}

/**
 * Asserts that a valid and a forged feed have the same result as without
 * workers.
 */
export async function expectSameResults(): Promise<CountedWorkers> {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  for (const [bytes, code] of [[feedOf(good)], [withLines(forged), "s"]]) {
    assert(bytes instanceof Uint8Array);
    const source = (workers: SignatureWorkers) => chunksFor(workers, bytes);
    const result = await outcome(source, workers, {});
    assertEquals(result, await outcome(source, ALONE, {}));
    assertEquals("thrown" in result, code !== undefined);
    assertEquals(workers.size, 0);
  }
  return workers;
}

/** Calls {@linkcode expectSameResults} with workers that run this code. */
export async function expectSameResultsWith(code: string): Promise<void> {
  const Real = globalThis.Worker;
  class Other extends Real {
    constructor(_url: string, options: WorkerOptions) {
      super(`data:text/javascript,${encodeURIComponent(code)}`, options);
    }
  }
  await withWorkers(Other, async () => void await expectSameResults());
}

if (import.meta.main) {
  for (const code of Deno.args) {
    await expectSameResultsWith(code);
  }
}
