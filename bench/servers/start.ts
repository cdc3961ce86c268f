/** Starting a server of its own process for a bench. @module */

/** A running server. */
export interface Started {
  /** What it printed last of what was waited for. */
  readonly url: URL;
  /** All that was waited for. */
  readonly urls: readonly URL[];
  /** Its process. */
  readonly pid: number;
  /** Stops it. */
  stop(): Promise<void>;
}

/** How a server is started. */
export interface StartOptions {
  /** URLs that it prints first; one unless told. */
  readonly lines?: number;
  /** On all cores; on the first one alone, where possible, unless told. */
  readonly isEverywhere?: boolean;
}

/** Runs a script that prints URLs first. */
export async function startServer(
  script: string,
  args: readonly string[] = [],
  { lines = 1, isEverywhere = false }: StartOptions = {},
): Promise<Started> {
  const root = new URL("../..", import.meta.url);
  const words = [
    ...[Deno.execPath(), "run", "-A", "--config"],
    ...[new URL("deno.json", root).pathname, new URL(script, root).pathname],
    ...args,
  ];
  const pinned = !isEverywhere && await hasTaskset()
    ? ["taskset", "-c", "0", ...words]
    : words;
  const child = new Deno.Command(pinned[0]!, {
    args: pinned.slice(1),
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  while (printed.split("\n").length <= lines) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${script} printed ${JSON.stringify(printed)}`);
    printed += value;
  }
  const urls = printed.trim().split("\n").map((line) => new URL(line));
  return {
    url: urls.at(-1)!,
    urls,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      await reader.cancel();
      await child.status;
    },
  };
}

async function hasTaskset(): Promise<boolean> {
  try {
    const { success } = await new Deno.Command("taskset", {
      args: ["-c", "0", "true"],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}
