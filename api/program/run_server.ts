/** Runs a server's process, from its arguments to its exit code. @module */

import { type FlagSpec, type GivenFlags, usageError } from "./flag.ts";
import { example, flagRow, paragraphs, twoColumns } from "./help_text.ts";
import { parseFlags } from "./parse_flags.ts";
import { toUserError } from "./user_error.ts";
import type { Address } from "./values.ts";
import { escapeInvisible, isSigError, toProblem } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { App } from "../http/options.ts";
import {
  type PlatformSettings,
  readSettings,
  type SettingsIo,
} from "./settings.ts";
import { createLogWriter, operatorLine } from "./log.ts";
import {
  formatLogEntry,
  type LogFormat,
  type RequestLogEntry,
} from "../http/request_log.ts";
import {
  listen,
  type Respond,
  type RunningServer,
  settleWithin,
} from "./listen.ts";
import {
  createProcessIo,
  type ProcessIo,
  readVariable,
  readVariables,
} from "./io.ts";

/** The environment of a server process. */
export interface ServerIo extends ProcessIo, SettingsIo {
  /** The bearer token on platforms without a disk for a token file. */
  readonly token?: string | undefined;
  /**
   * Writes log lines and resolves when they are written. Must not block the
   * process meanwhile, since the reader may be slow (default: `stderr`).
   */
  log?(text: string): Promise<void>;
  /**
   * Starts serving requests; rejects with `invalid_request` if it can't listen.
   * `report` receives later messages for the operator.
   */
  serve(
    address: Address,
    respond: Respond,
    report?: (message: string) => void,
  ): Promise<RunningServer>;
}

/**
 * Creates the real {@linkcode ServerIo}.
 *
 * @example
 * ```ts
 * import { createServerIo } from "@sig/api/program";
 * import { assert } from "@std/assert";
 *
 * assert(createServerIo().now().getTime() > 0);
 * ```
 */
export function createServerIo(): ServerIo {
  return {
    ...createProcessIo(),
    variables: readVariables,
    log: writeLog,
    serve: (address, respond, report) =>
      Promise.resolve().then(() => listen(address, respond, report)),
  };
}

/**
 * Writes to standard error asynchronously, so that a slow or stopped reader
 * doesn't block the process.
 *
 * @throws {Deno.errors.BrokenPipe} if the reader is closed.
 */
async function writeLog(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    at += await Deno.stderr.write(bytes.subarray(at));
  }
}

/** The settings of a server to start. */
export interface Startup {
  /** The address to listen on; port 0 takes any free port. */
  readonly address: Address;
  /** The log format. */
  readonly log: LogFormat | "off";
  /**
   * Creates the application; it passes a log entry for each request to `log`.
   */
  createApp(
    url: string,
    log: ((entry: RequestLogEntry) => void) | undefined,
  ): App | Promise<App>;
  /** Returns lines to show to people when the server listens. */
  readonly notes?: (url: string) => readonly string[];
  /** Warnings for the operator at startup; without secrets. */
  readonly warnings?: readonly string[];
  /** Called when the server has stopped. */
  readonly close?: () => Promise<void>;
}

/** A server as a program. */
export interface ServerProgram {
  /** Its name, in messages and in `--help`. */
  readonly name: string;
  /** The version that `--version` prints. */
  readonly version: string;
  /** A description for `--help`: one line without a full stop. */
  readonly summary: string;
  /** Its flags; `--help` and `--version` are added. */
  readonly flags: readonly FlagSpec[];
  /** Example command lines. */
  readonly examples: readonly string[];
  /** Interprets the flags. */
  start(flags: GivenFlags, io: ServerIo): Promise<Startup>;
}

/** How long requests in flight may take during shutdown, in milliseconds. */
const GRACE_MS = 10_000;
/** The exit code of a server that had to abort requests. */
const ABORTED = 130;
/** How long the last log lines may then take, in milliseconds. */
const LOG_GRACE_MS = 1_000;

/**
 * Runs a server until it is stopped by a signal; requests in flight are
 * answered first.
 *
 * @example
 * ```ts
 * import { createServerIo, runServer, type ServerProgram } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * const program: ServerProgram = {
 *   name: "sig-hello",
 *   version: "0.1.0",
 *   summary: "says hello",
 *   flags: [],
 *   examples: ["sig-hello"],
 *   start: () => Promise.reject(new Error("not started for --version")),
 * };
 * let said = "";
 * const code = await runServer(program, ["--version"], {
 *   ...createServerIo(),
 *   stdout: (text) => said += text,
 * });
 * assertEquals([code, said], [0, "sig-hello 0.1.0\n"]);
 * ```
 *
 * @returns 0 if it was stopped and had answered all requests, 130 if some were
 * aborted after 10 s, 2 if it could not start.
 */
export async function runServer(
  program: ServerProgram,
  args: readonly string[],
  io: ServerIo,
): Promise<number> {
  try {
    const flags = parseFlags(
      args.map((arg) => arg === "-V" ? "--version" : arg),
      {
        flags: [...program.flags, ...OWN_FLAGS],
        seeHelp: `See: ${program.name} --help`,
      },
    );
    if (flags.on("help")) return say(io, helpOf(program, io.columns()));
    if (flags.on("version")) {
      return say(io, `${program.name} ${program.version}\n`);
    }
    const [extra] = flags.positionals;
    if (extra !== undefined) {
      throw usageError(`unexpected argument: ${quote(extra)}`, {
        hint: `See: ${program.name} --help`,
      });
    }
    return await serveUntilStopped(
      await startProgram(program, flags, io),
      io,
      (url) => io.stdout(`${url}\n`),
    );
  } catch (error) {
    return report(program.name, error, io);
  }
}

/**
 * Starts a program with its flags, variables and the file of `--config`.
 *
 * @throws {SigError} as `readSettings`, and as `program.start`.
 */
export async function startProgram(
  program: ServerProgram,
  given: GivenFlags,
  io: ServerIo,
): Promise<Startup> {
  const { flags, notes } = await readSettings(program, given, io);
  const startup = await program.start(flags, io);
  const { log } = startup;
  // The notes are for the log, not for a person at a terminal.
  const isLogged = log === "json" || log === "text" && !io.isTerminal("stderr");
  return {
    ...startup,
    notes: (url) => [
      ...startup.notes?.(url) ?? [],
      ...isLogged ? notes : [],
    ],
  };
}

/**
 * Runs a program with `deno serve` or Deno Deploy, configured by variables
 * only. It is public unless the variables say otherwise. If it can't start, it
 * reports the error and exits with 2.
 */
export async function serveProgram(
  program: ServerProgram,
  { aliases, defaults }: PlatformSettings,
): Promise<Deno.ServeDefaultExport> {
  const io = { ...createServerIo(), token: readVariable("SIG_TOKEN") };
  const none = { text: () => undefined, texts: () => [], on: () => false };
  try {
    const { flags, notes } = await readSettings(program, none, io, {
      aliases,
      // The platform decides where it listens, so the address may be public.
      defaults: { addr: "0.0.0.0:0", public: "true", log: "json", ...defaults },
    });
    const startup = await program.start(flags, io);
    const { log: format, warnings = [] } = startup;
    const app = await startup.createApp(
      "http://localhost",
      format === "off"
        ? undefined
        : (entry) => console.log(formatLogEntry(entry, format).trimEnd()),
    );
    for (const text of [...notes, ...warnings]) {
      console.error(operatorLine(text, format, io.now(), "warning").trimEnd());
    }
    return { fetch: (request, info) => app.fetch(request, info) };
  } catch (error) {
    // Thrown from a module, it would be shown with a stack trace.
    Deno.exit(report(program.name, error, io));
  }
}

/**
 * Serves until the process is stopped by a signal; `announce` receives the
 * address when requests are answered. Rejects if it can't listen or create the
 * application; closes the startup's resources in any case.
 */
export async function serveUntilStopped(
  startup: Startup,
  io: ServerIo,
  announce: (url: string) => void,
): Promise<number> {
  const writer = createLogWriter(async (text) => {
    if (io.log) await io.log(text);
    else io.stderr(text);
  });
  const format = startup.log;
  const log = format === "off"
    ? undefined
    : (entry: RequestLogEntry) => writer.write(formatLogEntry(entry, format));
  // The application needs the address, which is unknown before for port 0.
  const made = Promise.withResolvers<App>();
  made.promise.catch(() => {});
  let app: App = {
    fetch: async (request, info) =>
      await (await made.promise).fetch(request, info),
  };
  let server: RunningServer | undefined;
  let isDrained = true;
  try {
    // Before listening: a process without free descriptors can't add signal
    // listeners.
    const stop = io.stopRequested();
    server = await io.serve(
      startup.address,
      (request, info) => app.fetch(request, info),
      (message) =>
        io.stderr(operatorLine(message, format, io.now(), "warning")),
    );
    app = await startup.createApp(server.url, log);
    made.resolve(app);
    announce(server.url);
    greet(startup, server.url, io);
    await Promise.race([stop, server.finished]);
  } finally {
    // Requests that wait for an application that failed to start get an error.
    made.reject(new Error("there is no application"));
    if (server !== undefined) isDrained = await server.shutdown(GRACE_MS);
    await settleWithin(writer.flush(), LOG_GRACE_MS);
    await startup.close?.();
  }
  return isDrained ? 0 : ABORTED;
}

/**
 * Writes warnings and notes in the log's format: a collector of JSON lines must
 * receive nothing else.
 */
function greet(startup: Startup, url: string, io: ServerIo): void {
  const { warnings = [], notes, log } = startup;
  const now = io.now();
  for (const text of warnings) {
    io.stderr(operatorLine(text, log, now, "warning"));
  }
  for (const text of notes?.(url) ?? []) {
    // The text format needs no label.
    io.stderr(
      log === "json"
        ? operatorLine(text, log, now, "info")
        : `${escapeInvisible(text)}\n`,
    );
  }
}

const OWN_FLAGS: readonly FlagSpec[] = [
  { name: "help", help: "show this help" },
  { name: "version", help: "show the version" },
];

function say(io: ServerIo, text: string): number {
  io.stdout(text);
  return 0;
}

/** Returns the help, wrapped to the width of the terminal if there is one. */
function helpOf(program: ServerProgram, width?: number): string {
  const { name, summary, flags, examples } = program;
  return `${paragraphs(`${name}: ${summary}`, width)}

Usage: ${name} [flags]

Flags:
${twoColumns([...flags, ...OWN_FLAGS].map(flagRow), width)}

Examples:
${examples.map((line) => example(line, width)).join("\n")}
`;
}

/** Writes an error, with name and message if it is an unexpected one. */
function report(name: string, thrown: unknown, io: ServerIo): number {
  const error = toUserError(thrown);
  const { code, detail } = toProblem(error);
  const lines = [`${name}: ${code}: ${detail}`];
  if (isSigError(error)) {
    if (error.hint !== undefined) lines.push(`  hint: ${error.hint}`);
  } else {
    const what = error instanceof Error
      ? `${error.name}: ${error.message}`
      : "an error without a name";
    lines.push(`  ${what}`);
  }
  io.stderr(`${lines.map(escapeInvisible).join("\n")}\n`);
  return 2;
}
