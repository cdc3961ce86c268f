/**
 * Runs processes in tests: reads their output, waits for their exit, and ends
 * them by their id. No other test file may start a process (`deno task
 * check:tests`).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { waitUntil, within } from "./wait.ts";

/** URL of the workspace. */
export const ROOT: URL = new URL("../../", import.meta.url);

/** Options of {@linkcode TestProcess}. */
export interface ProcessOptions {
  /** The working directory. */
  readonly cwd?: string | URL;
  /** Environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether to remove all other environment variables (default: false). */
  readonly clearEnv?: boolean;
  /**
   * Standard input; "open" is for {@linkcode TestProcess.write} (default:
   * none).
   */
  readonly stdin?: "open" | { readonly text: string } | undefined;
  /**
   * Whether to leave standard error unread until {@linkcode
   * TestProcess.readStderr} (default: false).
   */
  readonly unread?: boolean;
}

/** The result of a process. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The result of a process, with the signal that ended it. */
export interface Ended extends Ran {
  readonly signal: Deno.Signal | null;
}

/** A running process, which is killed when its scope ends. */
export class TestProcess implements AsyncDisposable {
  /** The process id. */
  readonly pid: number;
  /** Standard output so far. */
  stdout = "";
  /** Standard error so far. */
  stderr = "";
  readonly #child: Deno.ChildProcess;
  readonly #command: string;
  #hasEnded = false;
  #isStderrRead = false;
  readonly #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  readonly #reading: Promise<void>[] = [];
  #ended: Promise<Ended> | undefined;

  /** Starts a process. */
  constructor(
    command: string | URL,
    args: readonly string[],
    { stdin, unread = false, ...options }: ProcessOptions = {},
  ) {
    this.#child = new Deno.Command(command, {
      ...options,
      args: [...args],
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = this.#child.pid;
    this.#command = [command, ...args].join(" ");
    this.#child.status.then(() => this.#hasEnded = true);
    if (stdin !== undefined) this.#input = this.#child.stdin.getWriter();
    this.#reading.push(this.#read("stdout"));
    if (!unread) this.readStderr();
    if (typeof stdin === "object") {
      this.#reading.push(this.write(stdin.text).then(() => this.closeInput()));
    }
  }

  /** Begins to read standard error, if `unread` was set. */
  readStderr(): void {
    if (this.#isStderrRead) return;
    this.#isStderrRead = true;
    this.#reading.push(this.#read("stderr"));
  }

  /** Writes to standard input; does nothing if the process has exited. */
  async write(text: string): Promise<void> {
    await this.#input!.write(new TextEncoder().encode(text)).catch(() => {});
  }

  /** Closes standard input. */
  async closeInput(): Promise<void> {
    await this.#input?.close().catch(() => {});
  }

  /**
   * Waits until standard output or standard error contains a text after
   * position `from`, and returns the match. Throws if the process exits before.
   */
  async said(wanted: string | RegExp, from = 0): Promise<RegExpExecArray> {
    const pattern = typeof wanted === "string"
      ? new RegExp(RegExp.escape(wanted))
      : wanted;
    return await waitUntil(`${this.#command}\nsays ${wanted}`, async () => {
      const hasEnded = this.#hasEnded;
      if (hasEnded) await this.ended();
      const found = pattern.exec(this.stdout.slice(from)) ??
        pattern.exec(this.stderr.slice(from));
      if (found === null && hasEnded) {
        throw new Error(
          `${this.#command}\nended without ${wanted}:\n${this.stdout}${this.stderr}`,
        );
      }
      return found;
    });
  }

  /**
   * Waits until a port of loopback accepts connections; throws if the process
   * exits.
   */
  async listens(port: number): Promise<void> {
    await waitUntil(`${this.#command}\nlistens`, async () => {
      if (this.#hasEnded) {
        const { stdout, stderr } = await this.ended();
        throw new Error(`${this.#command}\nended:\n${stdout}${stderr}`);
      }
      return await listensAt(port);
    });
  }

  /** Sends a signal; does nothing if the process has exited. */
  signal(signal: Deno.Signal): void {
    try {
      this.#child.kill(signal);
    } catch (error) {
      // The process has exited.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  /**
   * Waits for the exit without reading standard error if `unread` was set;
   * returns the exit code.
   */
  async exited(): Promise<number> {
    return (await within(`${this.#command}\nends`, this.#child.status)).code;
  }

  /**
   * Waits for the exit. A process that does not exit is killed, and the test
   * fails.
   */
  ended(): Promise<Ended> {
    return this.#ended ??= this.#waitForEnd();
  }

  /** Sends a signal and waits for the exit. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Ended> {
    this.signal(signal);
    return await this.ended();
  }

  /** Kills the process, unless it has exited. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }

  async #waitForEnd(): Promise<Ended> {
    this.readStderr();
    try {
      await within(`${this.#command}\nends`, this.#child.status);
    } catch (error) {
      this.signal("SIGKILL");
      await this.#finish();
      throw error;
    }
    await this.#finish();
    const { code, signal } = await this.#child.status;
    return { code, signal, stdout: this.stdout, stderr: this.stderr };
  }

  async #finish(): Promise<void> {
    await this.closeInput();
    await Promise.all(this.#reading);
    await this.#child.status;
  }

  async #read(output: "stdout" | "stderr"): Promise<void> {
    const texts = this.#child[output].pipeThrough(new TextDecoderStream());
    for await (const text of texts) this[output] += text;
  }
}

/** Runs a process to its exit. */
export async function run(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Ran> {
  await using child = new TestProcess(command, args, options);
  const { code, stdout, stderr } = await child.ended();
  return { code, stdout, stderr };
}

/** Runs a process that must succeed, and returns its standard output. */
export async function runWell(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, options);
  assertEquals(code, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

/** The line in which our servers and `deno serve` print their address. */
const ANNOUNCEMENT = /(?:^|Listening on )(http:\/\/127\.0\.0\.1:\d+)\/?\s/m;

/** A server in a separate process. */
export class StartedServer extends TestProcess {
  /** The origin, once the server has printed it. */
  origin = "";

  /**
   * Waits for the address that the server prints; kills the server if there is
   * none.
   */
  async announced(): Promise<this> {
    try {
      [, this.origin = ""] = await this.said(ANNOUNCEMENT);
      return this;
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }
}

/** Starts a server and waits for the address that it prints. */
export async function startServer(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<StartedServer> {
  return await new StartedServer(command, args, options).announced();
}

/** The directory of Deno's module cache. */
export async function denoDir(): Promise<string> {
  const text = await runWell(Deno.execPath(), ["info", "--json"]);
  return JSON.parse(text).denoDir;
}

/** Returns a port of loopback that was free just now. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Whether this run must not skip any test. */
export const isCi: boolean = Deno.env.get("SIG_CI") === "1";

/** Whether to skip a test, because this machine lacks a program that it needs. */
export function lacks(program: string): boolean {
  return !isCi && !hasProgram(program);
}

/** Returns whether a program is installed, also in root's directories. */
export function hasProgram(name: string): boolean {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return [...folders, "/usr/sbin"].some((folder) => {
    try {
      return Deno.statSync(`${folder}/${name}`).isFile;
    } catch {
      return false;
    }
  });
}

async function listensAt(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch {
    return false;
  }
}

/** A temporary folder, removed when its scope ends. */
export interface TempFolder extends AsyncDisposable {
  /** Its path. */
  readonly path: string;
}

/** Creates a temporary folder. */
export async function tempFolder(): Promise<TempFolder> {
  const path = await Deno.makeTempDir({ prefix: "sig-test-" });
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
