/** The program as a process of its own. */

import {
  type Ran,
  run,
  startServer as startProcess,
} from "../../../tests/kit/process.ts";

/** A running server. */
export interface ServerOfFolder {
  readonly url: string;
  /** Sends SIGHUP. */
  hangUp(): void;
  /** Waits until standard error has had a text. */
  said(text: string): Promise<void>;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const MAIN = new URL("../../main.ts", import.meta.url).pathname;

function denoArgs(dir: string, args: readonly string[]): readonly string[] {
  return [
    ...["run", "--no-check", "--unstable-kv", "--allow-net"],
    ...[`--allow-read=${dir}`, `--allow-write=${dir}`],
    ...[MAIN, "--addr", "127.0.0.1:0", ...args],
  ];
}

/** Starts it in a folder, which it may read and write, and nothing else. */
export async function startServer(
  dir: string,
  args: readonly string[],
): Promise<ServerOfFolder> {
  const server = await startProcess(
    Deno.execPath(),
    denoArgs(dir, args),
    { cwd: dir },
  );
  return {
    url: server.origin,
    hangUp: () => server.signal("SIGHUP"),
    said: async (text) => void await server.said(text),
    kill: async () => void await server.stop("SIGKILL"),
    stop: async () => void await server.stop(),
  };
}

/** The same for one that must not start. */
startServer.fails = (dir: string, args: readonly string[]): Promise<Ran> =>
  run(Deno.execPath(), denoArgs(dir, args), { cwd: dir });
