/** Runs `sig-web --demo` inside this process. */

import { createServerIo, runServer } from "@sig/api/server";
import { webProgram } from "../program.ts";

/** A running demo. */
export interface RunningDemo extends AsyncDisposable {
  /** The login's origin. */
  readonly origin: string;
  /** Returns its output, including log lines. */
  said(): string;
}

/** Starts the demo on any port (default: no log, the system clock). */
export async function startRunningDemo(
  args: readonly string[] = ["--log", "off"],
  now: () => Date = () => new Date(),
): Promise<RunningDemo> {
  const stop = Promise.withResolvers<void>();
  const { promise: listening, resolve, reject } = Promise.withResolvers<
    string
  >();
  let said = "";
  const ended = runServer(
    webProgram,
    ["--demo", "--addr", "127.0.0.1:0", ...args],
    {
      ...createServerIo(),
      now,
      stdout: (text) => resolve(text.trim()),
      stderr: (text) => said += text,
      log: (text) => {
        said += text;
        return Promise.resolve();
      },
      stopRequested: () => stop.promise,
    },
  );
  ended.then(() => reject(new Error(said)), reject);
  return {
    origin: await listening,
    said: () => said,
    async [Symbol.asyncDispose]() {
      stop.resolve();
      await ended;
    },
  };
}
