/** What a server has taken so far; on Linux. @module */

/** Seconds of processor time, in all of its threads. */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Ticks of a hundredth: utime and stime.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Memory of a process in MiB. */
export interface ProcessMemory {
  /** All that is in memory now. */
  readonly resident: number;
  /** Of it the runtime's own program, which all its processes share. */
  readonly program: number;
  /** The most that ever was. */
  readonly peak: number;
}

/** The memory that a process has now. */
export async function memoryOf(pid: number): Promise<ProcessMemory> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const mebibytes = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? NaN) / 1024;
  return {
    resident: mebibytes("VmRSS"),
    program: mebibytes("RssFile"),
    peak: mebibytes("VmHWM"),
  };
}
