/** Runs our servers as processes with minimal permissions. @module */

import { assert, assertEquals } from "@std/assert";
import { type Ended, type Ran, ROOT, run, StartedServer } from "./process.ts";
import { programArgs } from "./programs.ts";

/** A server that listens. */
export type ServerName = "api" | "web";
/** Both servers. */
export const SERVERS: readonly ServerName[] = ["api", "web"];

/** For each server, a JSON POST with status 200 that needs no network. */
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

/** Options of a server process. */
export interface ServerOptions {
  /** Permissions (default: {@linkcode LEAST}). */
  readonly permissions?: readonly string[];
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Maximum number of file descriptors. */
  readonly maxDescriptors?: number;
}

/** The minimal permissions of a server on loopback. */
export const LEAST: readonly string[] = ["--allow-net=127.0.0.1"];

/** Returns the command, beginning with its program. */
function wordsOf(
  name: ServerName | "cli",
  args: readonly string[],
  { permissions = LEAST, maxDescriptors }: ServerOptions,
): [program: string, ...args: string[]] {
  const run = ["run", "--no-prompt", ...permissions, ...programArgs(name)];
  if (maxDescriptors === undefined) return [Deno.execPath(), ...run, ...args];
  const script = `ulimit -n ${maxDescriptors} && exec "$@"`;
  return ["sh", "-c", script, "sh", Deno.execPath(), ...run, ...args];
}

/** Runs a server that is expected to exit. */
export async function runToEnd(
  name: ServerName,
  args: readonly string[],
  options: ServerOptions = {},
): Promise<Ran> {
  const [program, ...words] = wordsOf(name, args, options);
  return await run(program, words, {
    cwd: ROOT,
    env: { NO_COLOR: "1", ...options.env },
  });
}

/** A running server, which is killed when its scope ends. */
export class ServerProcess extends StartedServer {
  /**
   * Starts a server on a free port of loopback and waits for its first line.
   * `cli` runs `sig serve`.
   */
  static async start(
    name: ServerName | "cli",
    args: readonly string[] = [],
    { unread = false, ...options }: ServerOptions & {
      readonly unread?: boolean;
    } = {},
  ): Promise<ServerProcess> {
    const all = [...args, "--addr", "127.0.0.1:0"];
    const [program, ...words] = wordsOf(name, all, options);
    const env = { NO_COLOR: "1", ...options.env };
    return await new ServerProcess(program, words, { cwd: ROOT, env, unread })
      .announced();
  }

  /** The origin of the server. */
  get url(): string {
    return this.origin;
  }

  /** The port of the server. */
  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Waits for the exit; `stdout` is the output after the first line. */
  override async ended(): Promise<Ended> {
    const ended = await super.ended();
    return { ...ended, stdout: ended.stdout.replace(/^.*\n/, "") };
  }
}

/** Parses a server's log; each line must be one JSON value. */
export function logEntries(
  stderr: string,
): readonly { readonly [name: string]: unknown }[] {
  const lines = stderr.split("\n");
  assertEquals(lines.pop(), "", "the last line is not complete");
  // The first line is text for people.
  return lines.slice(1).map((line) => {
    const entry = JSON.parse(line);
    assert(typeof entry === "object" && entry !== null, line);
    return entry;
  });
}

/** The response of a server. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests look into it member by member
  readonly body: any;
}

/** Sends JSON, or no body, and parses the JSON response. */
export async function askJson(
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(
    url,
    body === undefined ? { headers } : {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    },
  );
  const { status } = response;
  return { status, headers: response.headers, body: await response.json() };
}

/** Asserts that the server responds normally. */
export async function assertUntouched(server: ServerProcess): Promise<void> {
  const response = await fetch(`${server.url}/healthz`);
  assertEquals([response.status, (await response.json()).status], [200, "ok"]);
}
