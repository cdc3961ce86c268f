/** Runs `sig-web --demo` inside this process. */

import { createServerIo, runServer } from "@sig/api/server";
import { webProgram } from "../program.ts";

/** A running demo. */
export interface RunningDemo extends AsyncDisposable {
  /** The login's origin. */
  readonly origin: string;
  /** Returns its output, including log lines. */
  said(): string;
  /** Gets a path, or posts to it; an object is sent as JSON. */
  ask(path: string, sent?: unknown, type?: string): Promise<Asked>;
}

/** A response with its text, and its value if it is JSON. */
interface Asked {
  readonly status: number;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- tests assert what it contains
  readonly body: any;
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
    async ask(path, sent, type = "application/json") {
      const response = await fetch(
        origin + path,
        sent === undefined ? {} : {
          method: "POST",
          headers: { "content-type": type },
          body: typeof sent === "string" ? sent : JSON.stringify(sent),
        },
      );
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json");
      const body = isJson ? JSON.parse(text) : {};
      return { status: response.status, text, body };
    },
    async [Symbol.asyncDispose]() {
      stop.resolve();
      await ended;
    },
  };
}
