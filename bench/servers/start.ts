/**
 * Starts servers as separate processes, and measures their use of resources.
 *
 * @module
 */

import {
  hasProgram,
  ROOT,
  startServer as startProcess,
} from "../../tests/kit/process.ts";

export interface Started {
  /** The first line of its output. */
  readonly url: URL;
  /** Returns the CPU time of all its threads in milliseconds; Linux only. */
  processorMs(): Promise<number>;
  /** Returns its resident memory and the maximum of it in MiB; Linux only. */
  memory(): Promise<{ readonly now: number; readonly most: number }>;
  /** Sends it a signal. */
  signal(name: Deno.Signal): void;
  stop(): Promise<void>;
}

/** Runs a script that prints its URL first, if possible on one core. */
export async function startServer(
  script: string,
  args: readonly string[] = [],
): Promise<Started> {
  const words = [
    ...[Deno.execPath(), "run", "-A", "--config"],
    ...[new URL("deno.json", ROOT).pathname, new URL(script, ROOT).pathname],
    ...args,
  ];
  if (hasProgram("taskset")) {
    words.unshift("taskset", "-c", "0");
  }
  const server = await startProcess(words[0]!, words.slice(1));
  return {
    url: new URL(server.origin),
    processorMs: () => processorMsOf(server.pid),
    memory: () => memoryOf(server.pid),
    signal: (name) => Deno.kill(server.pid, name),
    stop: async () => void await server.stop(),
  };
}

/** Milliseconds of one tick in `/proc`. */
const TICK_MS = 10;

async function processorMsOf(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Returns the memory of a process; NaN once it has exited. */
export async function memoryOf(pid: number) {
  const status = await Deno.readTextFile(`/proc/${pid}/status`)
    .catch(() => "");
  const mebibytes = (name: string) =>
    Number(RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? NaN) / 1024;
  return { now: mebibytes("VmRSS"), most: mebibytes("VmHWM") };
}
