/** A server as a real process, with the least permissions. @module */

import { assert, assertEquals } from "@std/assert";
import { waitUntil } from "./wait.ts";

/** The folder of the workspace. */
export const ROOT: URL = new URL("../../", import.meta.url);

/** The two servers. */
export type ServerName = "api" | "web";
/** Both of them. */
export const SERVERS: readonly ServerName[] = ["api", "web"];

/** A JSON POST that each server answers with 200 without any network. */
export const QUESTIONS: {
  readonly [name in ServerName]: {
    readonly path: string;
    readonly body: string;
  };
} = {
  api: {
    path: "/v1/verify",
    body: JSON.stringify({ feed: { metadata: {}, jwks: {}, events: "" } }),
  },
  web: { path: "/v1/auth/challenge/create", body: '{"scopes":["profile"]}' },
};

/** What a process said, and how it ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a process is started. */
export interface ProcessOptions {
  /** Instead of the least that a server on loopback needs. */
  readonly permissions?: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** How many file descriptors it may have open (`ulimit -n`). */
  readonly maxDescriptors?: number;
}

/** What a server on loopback needs, and no more. */
export const LEAST: readonly string[] = ["--allow-net=127.0.0.1"];

function commandOf(
  name: ServerName | "cli",
  args: readonly string[],
  { permissions = LEAST, env = {}, maxDescriptors }: ProcessOptions,
): Deno.Command {
  const words = [Deno.execPath(), "run", "--no-prompt", ...permissions];
  words.push(`${name}/main.ts`, ...args);
  if (maxDescriptors !== undefined) {
    const script = `ulimit -n ${maxDescriptors} && exec "$@"`;
    words.unshift("sh", "-c", script, "sh");
  }
  return new Deno.Command(words[0]!, {
    args: words.slice(1),
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs a server that is expected to end by itself. */
export async function runToEnd(
  name: ServerName,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Ended> {
  const output = await commandOf(name, args, options).output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}

/** A server that runs; it is stopped where its scope ends. */
export class ServerProcess implements AsyncDisposable {
  /** The first line that it printed. */
  readonly url: string;
  /** Where it listens. */
  readonly port: number;
  /** Its process. */
  readonly pid: number;
  readonly #child: Deno.ChildProcess;
  readonly #stdout: ReadableStreamDefaultReader<Uint8Array>;
  readonly #stderr: StderrReader;
  #ended: Promise<Ended> | undefined;

  private constructor(
    child: Deno.ChildProcess,
    stdout: ReadableStreamDefaultReader<Uint8Array>,
    stderr: StderrReader,
    url: string,
  ) {
    this.#child = child;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.pid = child.pid;
    this.url = url;
    this.port = Number(new URL(url).port);
  }

  /**
   * Starts it on a free port of loopback and waits for its first line. `cli` is
   * for `sig serve`.
   */
  static async start(
    name: ServerName | "cli",
    args: readonly string[] = [],
    options: ProcessOptions & { readonly unread?: true } = {},
  ): Promise<ServerProcess> {
    const all = [...args, "--addr", "127.0.0.1:0"];
    const child = commandOf(name, all, options).spawn();
    const stderr = new StderrReader(child.stderr);
    if (options.unread === undefined) stderr.read();
    const stdout = child.stdout.getReader();
    let line = "";
    while (!line.endsWith("\n")) {
      const { done, value } = await stdout.read();
      if (done) {
        stderr.read();
        await child.status;
        throw new Error(`${name} did not start: ${await stderr.text()}`);
      }
      line += new TextDecoder().decode(value);
    }
    return new ServerProcess(child, stdout, stderr, line.trimEnd());
  }

  /** What it has said on standard error so far. */
  get stderr(): string {
    return this.#stderr.soFar;
  }

  /** Waits until it has said this on standard error. */
  async said(text: string): Promise<void> {
    await waitUntil(text, () => this.stderr.includes(text));
  }

  /** Begins to read standard error, where `unread` left it alone. */
  readStderr(): void {
    this.#stderr.read();
  }

  /** Sends a signal. */
  signal(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits for its end without reading what it says; its exit code. */
  async exited(): Promise<number> {
    return (await this.#child.status).code;
  }

  /** Waits for its end. */
  ended(): Promise<Ended> {
    return this.#ended ??= this.#waitForEnd();
  }

  /** Stops it and waits for its end. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Ended> {
    if (this.#ended === undefined) this.signal(signal);
    return await this.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended === undefined) this.#kill();
    await this.ended();
  }

  #kill(): void {
    try {
      this.signal("SIGKILL");
    } catch (error) {
      // It has ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  async #waitForEnd(): Promise<Ended> {
    this.#stderr.read();
    let stdout = "";
    for (;;) {
      const { done, value } = await this.#stdout.read();
      if (done) break;
      stdout += new TextDecoder().decode(value);
    }
    const { code } = await this.#child.status;
    return { code, stdout, stderr: await this.#stderr.text() };
  }
}

class StderrReader {
  soFar = "";
  readonly #stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  #reading: Promise<void> | undefined;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#stream = stream;
  }

  read(): void {
    this.#reading ??= this.#collect();
  }

  async text(): Promise<string> {
    await this.#reading;
    return this.soFar;
  }

  async #collect(): Promise<void> {
    for await (
      const text of this.#stream.pipeThrough(new TextDecoderStream())
    ) {
      this.soFar += text;
    }
  }
}

/** The lines of a server's log; every one must be one JSON value. */
export function logEntries(
  stderr: string,
): readonly { readonly [name: string]: unknown }[] {
  const lines = stderr.split("\n");
  assertEquals(lines.pop(), "", "the last line is not complete");
  // The first one is for people.
  return lines.slice(1).map((line) => {
    const entry = JSON.parse(line);
    assert(typeof entry === "object" && entry !== null, line);
    return entry;
  });
}

/** Asserts that the service answers as if nothing had happened. */
export async function assertUntouched(server: ServerProcess): Promise<void> {
  const response = await fetch(`${server.url}/healthz`);
  assertEquals([response.status, (await response.json()).status], [200, "ok"]);
}
