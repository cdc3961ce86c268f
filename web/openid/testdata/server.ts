/** The program as a process of its own. */

import { waitUntil } from "../../../tests/kit/wait.ts";

/** A running server. */
export interface StartedServer {
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

function commandOf(dir: string, args: readonly string[]): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-check", "--unstable-kv", "--allow-net"],
      ...[`--allow-read=${dir}`, `--allow-write=${dir}`],
      ...[MAIN, "--addr", "127.0.0.1:0", ...args],
    ],
    cwd: dir,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Starts it in a folder, which it may read and write, and nothing else. */
export async function startServer(
  dir: string,
  args: readonly string[],
): Promise<StartedServer> {
  const child = commandOf(dir, args).spawn();
  let heard = "";
  const listening = (async () => {
    for await (
      const text of child.stderr.pipeThrough(new TextDecoderStream())
    ) {
      heard += text;
    }
  })();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await lines.read();
  const url = value?.trim() ?? "";
  if (url === "") throw new Error(`it did not start: ${heard}`);
  const end = async (signal: Deno.Signal) => {
    child.kill(signal);
    await child.status;
    await lines.cancel();
    await listening;
  };
  return {
    url,
    hangUp: () => child.kill("SIGHUP"),
    async said(text) {
      await waitUntil(`said ${text}`, () => heard.includes(text));
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
}

/** The same for one that must not start. */
startServer.fails = async (dir: string, args: readonly string[]) => {
  const { code, stderr } = await commandOf(dir, args).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
};
