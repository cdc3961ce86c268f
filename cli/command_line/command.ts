/**
 * The definition of a command, from which help and completions are derived, and
 * the parser of its command line. @module
 */

import {
  type Flags,
  type FlagSpec,
  flagSpecs,
  type GivenFlags,
  parseFlags,
  readValues,
  usageError,
  type Values,
} from "@sig/api/program";
import type { FoundPerson } from "@sig/issuer/people";
import type { Io } from "../terminal/io.ts";
import type { Format } from "../output/write.ts";
import { suggest } from "@sig/core/internal";

/** Exit code of an interrupted command. */
export const INTERRUPTED = 130;

export type { Format };

/** A parsed command line with the values of its flags. */
export interface Call<V = unknown> {
  /** The command's name. */
  readonly name: string;
  /** Arguments that are not flags. */
  readonly positionals: readonly string[];
  readonly format: Format;
  /** A format of `--format` other than text and JSON, such as `csv`. */
  readonly ownFormat: string | undefined;
  readonly io: Io;
  /** Once events are appended, an interrupt does not end the command. */
  readonly outcome: { isPublished: boolean };
  /** The values of its flags. */
  readonly flags: V;
  /**
   * Returns the person that a subject flag names by an id or a name; undefined
   * if it names a key.
   */
  readonly found?: (flag: string) => FoundPerson | undefined;
}

/** A command line whose flags are not parsed to values yet. */
export interface ParsedCall extends Omit<Call, "flags">, GivenFlags {}

/** A command without the members of its row in the table of commands. */
export interface CommandSpec<F extends Flags> {
  /** Longer description for the command's help. */
  readonly description?: string;
  /** Arguments that are not flags, as shown in the usage line. */
  readonly positionals?: readonly {
    readonly name: string;
    readonly help: string;
    readonly optional?: true;
    readonly choices?: readonly string[];
    /** What it names, as in `ValueType`. */
    readonly kind?: "file" | "folder";
  }[];
  /** The flags by name, without `--format` and `--help`, which are added. */
  readonly flags: F;
  readonly examples: readonly string[];
  /** Format without `--format` if stdout is not a terminal (default: text). */
  readonly format?: Format;
  /**
   * Formats in addition to text and JSON, passed in {@linkcode Call.ownFormat}.
   */
  readonly formats?: readonly string[];
  /** Whether it runs until it is interrupted, which is then a success. */
  readonly endless?: true;
  /**
   * What a person's id or name means in its subject flags: the `person` (the
   * value is the oldest key, {@linkcode Call.found} has all keys), `each` key
   * (the value is the newest effective one), or a single `key`, which is refused
   * unless exactly one is effective (default: `key`).
   */
  readonly subjects?: "person" | "each" | "key";
  /** Runs the command and returns the exit code (default: 0). */
  run(call: Call<Values<F>>): Promise<number | void>;
}

/** A command with its flags as texts, as help and parser use it. */
export interface LoadedCommand
  extends Omit<CommandSpec<Flags>, "flags" | "run"> {
  /** The flags, without `--format` and `--help`, which are added. */
  readonly flags: readonly FlagSpec[];
  /** Runs the command and returns the exit code. */
  run(call: ParsedCall): Promise<number>;
}

/** Returns a command whose `run` gets the parsed values of its flags. */
export function typedCommand<const F extends Flags>(
  spec: CommandSpec<F>,
): LoadedCommand {
  const { description } = spec;
  return {
    ...spec,
    ...description !== undefined && { description: dedent(description) },
    flags: flagSpecs(spec.flags),
    run: async (call) =>
      await spec.run({ ...call, flags: readValues(spec.flags, call) }) ?? 0,
  };
}

/** Returns a text of several lines without the indentation of the code. */
function dedent(text: string): string {
  const lines = text.replace(/^\n/, "").trimEnd().split("\n");
  const indent = Math.min(
    ...lines.filter((line) => line.trim() !== "").map((line) =>
      line.search(/\S/)
    ),
  );
  return lines.map((line) => line.slice(indent)).join("\n");
}

/** A row of the table of commands, available without loading the command. */
export interface CommandEntry {
  readonly name: string;
  /** Summary of one line, for the list of commands. */
  readonly summary: string;
  /** Loads the remaining members. */
  readonly load: () => Promise<LoadedCommand>;
}

/** A loaded command with its row of the table. */
export interface Command extends LoadedCommand, Omit<CommandEntry, "load"> {}

/** Loads a command of the table. */
export async function loadCommand(
  { load, ...entry }: CommandEntry,
): Promise<Command> {
  return { ...entry, ...await load() };
}

/** The output formats of every command. */
const FORMATS = ["text", "json"];

/** Returns the flags of a command, with `--format` and `--help`. */
export function flagsOf(command: Command): readonly FlagSpec[] {
  const formats = [...FORMATS, ...command.formats ?? []];
  return [
    ...command.flags,
    {
      name: "format",
      value: formats.join("|"),
      help: "output format",
      choices: formats,
    },
    { name: "help", help: "show this help" },
  ];
}

/**
 * Returns the output format without `--format`: JSON if it is the command's
 * default and stdout is not a terminal, else text.
 */
export function defaultFormat(command: Command, io: Io): Format {
  const isJson = command.format === "json" && !io.isTerminal("stdout");
  return isJson ? "json" : "text";
}

/**
 * Parses the words after a command's name. Rejects unknown flags and surplus
 * arguments.
 *
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function parseCommandLine(
  command: Command,
  words: readonly string[],
  io: Io,
): ParsedCall {
  const given = parseFlags(words, {
    flags: flagsOf(command),
    seeHelp: seeHelp(command),
    // Most commands take their source as an argument, so users try that with
    // this command too.
    hintOfMissing: (missing, [word]) =>
      command.positionals || word === undefined || missing.value !== "SOURCE"
        ? undefined
        : `Did you mean sig ${command.name} --${missing.name} ${word}?`,
  });
  if (!given.on("help")) {
    requirePositionals(command, given.positionals, given.text("from"));
  }
  const asked = given.text("format");
  return {
    ...given,
    name: command.name,
    io,
    outcome: { isPublished: false },
    // With a command's own format, such as csv, messages are text.
    format: asked === undefined
      ? defaultFormat(command, io)
      : asked === "json"
      ? "json"
      : "text",
    ownFormat: asked !== undefined && FORMATS.includes(asked)
      ? undefined
      : asked,
  };
}

function seeHelp(command: Command): string {
  return `See: sig ${command.name} --help`;
}

function requirePositionals(
  command: Command,
  given: readonly string[],
  from: string | undefined,
): void {
  const wanted = command.positionals ?? [];
  const missing = wanted.find((each, i) =>
    !each.optional && given[i] === undefined
  );
  if (missing) {
    throw usageError(`<${missing.name}> is missing: ${missing.help}`, {
      hint: seeHelp(command),
    });
  }
  const extra = given[wanted.length];
  if (extra !== undefined) {
    const isList = wanted.length === 0 && from === undefined &&
      command.flags.some(({ name }) => name === "from");
    throw usageError(`unexpected argument: ${JSON.stringify(extra)}`, {
      hint: isList ? `Did you mean --from ${extra}?` : seeHelp(command),
    });
  }
  for (const [i, { name, choices }] of wanted.entries()) {
    const word = given[i];
    if (word === undefined || !choices || choices.includes(word)) continue;
    const near = suggest(word, choices);
    throw usageError(
      `<${name}> must be ${
        choices.length === 1 ? choices[0] : `one of ${choices.join(", ")}`
      }`,
      near ? { hint: `Did you mean ${near}?` } : {},
    );
  }
}
