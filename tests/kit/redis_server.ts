/** A real Redis on loopback, for tests. */

import { waitUntil } from "./wait.ts";
import { freePort, lacks, TestProcess } from "./process.ts";

const PROGRAM = "redis-server";

/** A running server. */
export interface TestRedis extends AsyncDisposable {
  /** `redis://127.0.0.1:<port>`. */
  readonly url: string;
  /** The port. */
  readonly port: number;
  /** The process id. */
  readonly pid: number;
  /** Stops the server and waits for its exit. */
  stop(): Promise<void>;
}

/** Whether Redis is installed; with `SIG_CI=1` it must be. */
export const HAS_REDIS: boolean = !lacks(PROGRAM);

/** Starts a server without persistence and waits until it listens. */
export async function startRedis(
  args: readonly string[] = [],
  port: number = freePort(),
): Promise<TestRedis> {
  const child = new TestProcess(PROGRAM, [
    ...["--bind", "127.0.0.1", "--port", `${port}`],
    ...["--save", "", "--appendonly", "no"],
    // A replica starts without the delay of 5 s, and writes no temporary file.
    ...["--repl-diskless-sync-delay", "0"],
    ...["--repl-diskless-load", "swapdb", ...args],
  ]);
  await child.listens(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid,
    stop: async () => void await child.stop("SIGKILL"),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/**
 * Runs `work` while a server is stopped: it accepts connections and does not
 * respond.
 */
export async function whileFrozen<T>(
  { pid }: TestRedis,
  work: () => Promise<T>,
): Promise<T> {
  Deno.kill(pid, "SIGSTOP");
  try {
    return await work();
  } finally {
    Deno.kill(pid, "SIGCONT");
  }
}

/**
 * Makes a server the read-only replica of another one, whose data replaces its
 * own, as a failover does with the old primary.
 */
export async function demote(
  old: TestRedis,
  primary: TestRedis,
): Promise<void> {
  await askRedis(old.port, `REPLICAOF 127.0.0.1 ${primary.port}`);
  await waitUntil("it is a replica", async () => {
    const info = await askRedis(old.port, "INFO replication");
    return info.includes("master_link_status:up");
  });
}

/** Returns the raw response of a server to one command. */
export async function askRedis(
  port: number,
  command: string,
): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(
    new TextEncoder().encode(`${command}\r\nQUIT\r\n`),
  );
  return await new Response(connection.readable).text();
}
