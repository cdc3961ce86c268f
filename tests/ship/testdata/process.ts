/** Processes that these tests start, and end by their id. @module */

import { assertEquals } from "@std/assert";
import { within } from "../../kit/wait.ts";

/** What a process is given. */
export interface ProcessOptions {
  /** Its working directory. */
  readonly cwd?: string | URL;
  /** Variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether these variables are all there are. */
  readonly clearEnv?: boolean;
}

/** What came of a process. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process with nothing on standard input, whose outputs are read. */
export function spawn(
  command: string,
  args: readonly string[],
  options: ProcessOptions,
): Deno.ChildProcess {
  return new Deno.Command(command, {
    ...options,
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/**
 * Runs a process to its end, with nothing on standard input. One that does not
 * end, a server where an error was expected, is killed.
 */
export async function run(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Ran> {
  return await read(spawn(command, args, options));
}

/** What a process came to; see {@linkcode run}. */
export async function read(child: Deno.ChildProcess): Promise<Ran> {
  const reading = child.output();
  try {
    await within("the process has ended", child.status);
  } catch (error) {
    child.kill("SIGKILL");
    await reading;
    throw error;
  }
  const { code, stdout, stderr } = await reading;
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/** Runs a process that must succeed, and gives what it printed. */
export async function runWell(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, options);
  assertEquals(code, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

/** A server in a process of its own. */
export interface ServerProcess extends AsyncDisposable {
  /** Its origin. */
  readonly origin: string;
  /** Stops it as a service manager does; what it said on standard error. */
  stop(): Promise<Ran>;
}

/** Starts a server and waits for the address that it prints. */
export async function startServer(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<ServerProcess> {
  const child = spawn(command, args, options);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  let stopped: Promise<Ran> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      try {
        child.kill("SIGTERM");
      } catch {
        // It has ended by itself.
      }
      const { code } = await child.status;
      return { code, stdout: await stdout.all, stderr: await stderr.all };
    })();
    return stopped;
  };
  const origin = await within(
    "the server listens, or has ended",
    Promise.race([
      stdout.origin,
      stderr.origin,
      child.status.then(() => undefined),
    ]),
  ).catch(() => undefined);
  if (origin === undefined) {
    throw new Error(`Cannot start ${args.join(" ")}: ${(await stop()).stderr}`);
  }
  return { origin, stop, [Symbol.asyncDispose]: async () => void await stop() };
}

/** How our servers and `deno serve` say where they listen. */
const ANNOUNCEMENT = /(?:^|Listening on )(http:\/\/127\.0\.0\.1:\d+)\/?\s/m;

/** All of a stream, and the address that is announced in it. */
function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const { promise: origin, resolve } = Promise.withResolvers<string>();
  const all = (async () => {
    let text = "";
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const found = ANNOUNCEMENT.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    }
    return text;
  })();
  return { origin, all };
}

/** A temporary folder, removed in the end. */
export async function tempFolder(): Promise<
  AsyncDisposable & { readonly path: string }
> {
  const path = await Deno.makeTempDir({ prefix: "sig-ship-" });
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
