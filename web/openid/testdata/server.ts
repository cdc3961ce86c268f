/** Runs `sig-web` as a separate process. */

import { startServer as startProcess } from "../../../tests/kit/process.ts";
import { programArgs } from "../../../tests/kit/programs.ts";

/** A running server. */
export interface ServerOfFolder {
  readonly url: string;
  /** Sends SIGHUP. */
  hangUp(): void;
  /** Waits until standard error contains a text. */
  said(text: string): Promise<void>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the server in a folder, the only one that it may read and write. */
export async function startServer(
  dir: string,
  args: readonly string[],
): Promise<ServerOfFolder> {
  const server = await startProcess(Deno.execPath(), [
    ...["run", "--unstable-kv", "--allow-net"],
    ...[`--allow-read=${dir}`, `--allow-write=${dir}`],
    ...[...programArgs("web"), "--addr", "127.0.0.1:0", ...args],
  ], { cwd: dir });
  return {
    url: server.origin,
    hangUp: () => server.signal("SIGHUP"),
    said: async (text) => void await server.said(text),
    kill: async () => void await server.stop("SIGKILL"),
    stop: async () => void await server.stop(),
  };
}
