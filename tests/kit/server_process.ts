/** A server of ours as a real process, with the least permissions. @module */

import { assert, assertEquals } from "@std/assert";
import { type Ended, type Ran, ROOT, run, StartedServer } from "./process.ts";

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

/** How a process is started. */
export interface ServerOptions {
  /** Instead of the least that a server on loopback needs. */
  readonly permissions?: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The limit of descriptors. */
  readonly maxDescriptors?: number;
}

/** What a server on loopback needs, and no more. */
export const LEAST: readonly string[] = ["--allow-net=127.0.0.1"];

/** The words of the command, its program first. */
function wordsOf(
  name: ServerName | "cli",
  args: readonly string[],
  { permissions = LEAST, maxDescriptors }: ServerOptions,
): [program: string, ...args: string[]] {
  const run = ["run", "--no-prompt", ...permissions, `${name}/main.ts`];
  if (maxDescriptors === undefined) return [Deno.execPath(), ...run, ...args];
  const script = `ulimit -n ${maxDescriptors} && exec "$@"`;
  return ["sh", "-c", script, "sh", Deno.execPath(), ...run, ...args];
}

/** Runs a server that is expected to end by itself. */
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

/** A server that runs; it is stopped where its scope ends. */
export class ServerProcess extends StartedServer {
  /**
   * Starts it on a free port of loopback and waits for its first line. `cli` is
   * for `sig serve`.
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

  /** The first line that it printed. */
  get url(): string {
    return this.origin;
  }

  /** Where it listens. */
  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Waits for its end; `stdout` is what came after the first line. */
  override async ended(): Promise<Ended> {
    const ended = await super.ended();
    return { ...ended, stdout: ended.stdout.replace(/^.*\n/, "") };
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

/** Posts JSON, and reads the JSON of the answer. */
export async function postJson(url: string, body: unknown) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** Asserts that the service answers as if nothing had happened. */
export async function assertUntouched(server: ServerProcess): Promise<void> {
  const response = await fetch(`${server.url}/healthz`);
  assertEquals([response.status, (await response.json()).status], [200, "ok"]);
}
