/**
 * Measures the share of workers in a verification, from `/proc` (Linux only).
 * @module
 */

import { writeDocuments } from "../../kit/unpack_vectors.ts";
import {
  importTestKeys,
  makeDocuments,
  makeLines,
} from "../../kit/test_issuer.ts";
import {
  type ProcessOptions,
  type Ran,
  TestProcess,
} from "../../kit/process.ts";
import { repeatedly } from "../../kit/wait.ts";

/** Number of events: about 6 MiB, for which verification starts workers. */
export const LARGE_EVENTS = 8_000;

/** Minimum share of workers: idle ones have 0.03 to 0.07, working ones 0.2. */
export const MIN_WORKER_SHARE = 0.12;

/** Writes an issuer with a large feed to a folder. */
export async function writeLargeIssuer(folder: string): Promise<void> {
  const [key] = await importTestKeys();
  const lines = await makeLines(LARGE_EVENTS, key);
  await writeDocuments(makeDocuments({ keys: [key], lines }), folder);
}

/**
 * Runs a process and returns its result, with the share of its CPU time in
 * workers.
 */
export async function runWithWorkers(
  command: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<Ran & { readonly share: number }> {
  await using child = new TestProcess(command, args, options);
  const ticks = new Map<string, readonly [name: string, ticks: number]>();
  using _sampling = repeatedly(10, () => {
    for (const [id, name, used] of threadsOf(child.pid)) {
      ticks.set(id, [name, used]);
    }
  });
  const ran = await child.ended();
  let all = 0;
  let workers = 0;
  for (const [name, used] of ticks.values()) {
    all += used;
    if (name.startsWith("worker-")) workers += used;
  }
  return { ...ran, share: workers / all };
}

/** Yields the id, name and CPU ticks of each thread. */
function* threadsOf(pid: number): Generator<readonly [string, string, number]> {
  const tasks = `/proc/${pid}/task`;
  try {
    for (const { name: id } of Deno.readDirSync(tasks)) {
      const stat = Deno.readTextFileSync(`${tasks}/${id}/stat`);
      // The name is in parentheses; utime and stime are fields 14 and 15.
      const [, name = "", rest = ""] = /\((.*)\) (.*)/s.exec(stat) ?? [];
      const fields = rest.split(" ");
      yield [id, name, Number(fields[11]) + Number(fields[12])];
    }
  } catch {
    // The process or one of its threads has ended.
  }
}
