/** Access to the system through Deno. @module */

import {
  createFile,
  createProcessIo,
  readVariable,
  replaceFile,
  signalled,
  tooLarge,
  writeAll,
} from "@sig/api/program";
import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Io } from "./io.ts";

/** Creates the {@linkcode Io} of a process. */
export function createDenoIo(): Io {
  return {
    ...createProcessIo(),
    // The runtime provides NO_COLOR without a permission.
    env: (name) =>
      name === "NO_COLOR"
        ? (Deno.noColor ? "1" : undefined)
        : readVariable(name),
    deadline: (ms) => AbortSignal.timeout(ms),
    readStdin: (maxBytes) => readStream(Deno.stdin.readable, maxBytes),
    replaceFile,
    makePrivateFolder: (path) =>
      Deno.mkdir(path, { recursive: true, mode: 0o700 })
        .then(() => true, () => false),
    listFolder,
    createFile: (path, text) => createFile(path, text, 0o644),
    realPath: (path) => Deno.realPath(path).catch(() => absolutePath(path)),
    runProgram,
    connectSocket,
    absolutePath,
    exists: (path) => {
      try {
        Deno.statSync(path);
        return true;
      } catch {
        return false;
      }
    },
    ask,
    interrupted: () => signalled(["SIGINT"]),
  };
}

/** Asks for confirmation. Unlike the blocking `confirm`, Ctrl-C ends it. */
async function ask(question: string): Promise<boolean> {
  if (!Deno.stdin.isTerminal()) return false;
  writeAll(Deno.stdout, `${question} [y/N] `);
  // A terminal returns one line at a time, of at most 4096 bytes.
  const line = new Uint8Array(4096);
  const length = await Deno.stdin.read(line) ?? 0;
  // Ctrl-D prints no line feed.
  if (length === 0) writeAll(Deno.stdout, "\n");
  const answer = new TextDecoder().decode(line.subarray(0, length));
  return /^y(?:es)?$/i.test(answer.trim());
}

async function listFolder(
  path: string,
): Promise<readonly string[] | undefined> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(path));
    return entries.flatMap(({ isFile, name }) => isFile ? [name] : []).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return undefined;
  }
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk.slice());
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function absolutePath(path: string): string {
  const parts: string[] = [];
  const whole = path.startsWith("/") ? path : `${Deno.cwd()}/${path}`;
  for (const part of whole.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/**
 * Runs a program without a shell, and waits until it exits. It inherits stdout
 * and stderr.
 *
 * @returns the exit code.
 * @throws {SigError} `invalid_request` if it can't be started.
 */
async function runProgram(
  [program = "", ...args]: readonly string[],
  stdin: string,
): Promise<number> {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args,
      stdin: "piped",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      throw notRun(
        `${quote(program)} may not be started`,
        "Executables may start nothing: use the sig of deno task install, or deno run --allow-run=PROGRAM.",
      );
    }
    throw notRun(
      `${quote(program)} can't be run`,
      "Name a program that is there and may be run.",
    );
  }
  try {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  } catch {
    // The program may close its standard input without reading it.
  }
  return (await child.status).code;
}

async function connectSocket(path: string): Promise<Deno.Conn | undefined> {
  try {
    return await Deno.connect({ transport: "unix", path });
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return undefined;
  }
}

function notRun(what: string, hint: string): SigError {
  return new SigError("invalid_request", {
    action: "run",
    reason: what,
    context: { flag: "--exec", hint },
  });
}
