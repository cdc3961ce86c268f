/** How much of a verification its workers did. Linux only: `/proc` tells. @module */

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

/** Events of the feed: some 6 MiB, for which workers are worth their start. */
export const LARGE_EVENTS = 8_000;

/** One that starts and then does nothing has 0.03 to 0.07, one that works 0.2. */
export const MIN_WORKER_SHARE = 0.12;

/** An issuer in a folder. */
export async function writeLargeIssuer(folder: string): Promise<void> {
  const [key] = await importTestKeys();
  const lines = await makeLines(LARGE_EVENTS, key);
  await writeDocuments(makeDocuments({ keys: [key], lines }), folder);
}

/** What came of a process, and the part of its work that workers did. */
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

/** Each thread's number, name, and ticks of processor time. */
function* threadsOf(pid: number): Generator<readonly [string, string, number]> {
  const tasks = `/proc/${pid}/task`;
  try {
    for (const { name: id } of Deno.readDirSync(tasks)) {
      const stat = Deno.readTextFileSync(`${tasks}/${id}/stat`);
      // Its name stands in parentheses; utime and stime are the 14th and 15th.
      const [, name = "", rest = ""] = /\((.*)\) (.*)/s.exec(stat) ?? [];
      const fields = rest.split(" ");
      yield [id, name, Number(fields[11]) + Number(fields[12])];
    }
  } catch {
    // It has ended meanwhile, or one of its threads has.
  }
}
