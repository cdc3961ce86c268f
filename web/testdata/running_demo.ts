/** Runs `sig-web --demo` inside this process. */

import { createServerIo, runServer } from "@sig/api/program";
import { webProgram } from "../sig_web.ts";
import { type Answer, readAnswer } from "./answer.ts";

/** A running demo. */
export interface RunningDemo extends AsyncDisposable {
  /** The login's origin. */
  readonly origin: string;
  /** Returns its output, including log lines. */
  said(): string;
  /** Gets a path, or posts to it; an object is sent as JSON. */
  ask(path: string, sent?: unknown, type?: string): Promise<Answer>;
}

/**
 * Runs `sig-web` with arguments that it must refuse, and returns its exit code
 * and standard error.
 */
export async function refusedStart(args: readonly string[]) {
  let stderr = "";
  const code = await runServer(webProgram, args, {
    ...createServerIo(),
    // The process would end; this one must keep no listener of signals.
    onHangup: () => () => {},
    stopRequested: () => new Promise(() => {}),
    stderr: (text) => stderr += text,
  });
  return { code, stderr };
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
  const origin = await listening;
  return {
    origin,
    said: () => said,
    ask: (path, sent, type = "application/json") =>
      readAnswer(fetch(
        origin + path,
        sent === undefined ? {} : {
          method: "POST",
          headers: { "content-type": type },
          body: typeof sent === "string" ? sent : JSON.stringify(sent),
        },
      )),
    async [Symbol.asyncDispose]() {
      stop.resolve();
      await ended;
    },
  };
}
