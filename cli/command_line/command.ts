/** What a command is: help, completions and parsing come from this. @module */

import {
  type Flags,
  type FlagSpec,
  flagSpecs,
  type GivenFlags,
  readValues,
  type Values,
} from "@sig/api/flags";
import type { Io } from "../terminal/io.ts";
import type { Format } from "../output/write.ts";

/** Exit code of an interrupted command. */
export const INTERRUPTED = 130;

export type { Format };

/** A command line that was understood, with the values of its flags. */
export interface Call<V = unknown> {
  /** The name it was called by: the command's, or an alias. */
  readonly name: string;
  /** Arguments that are not flags. */
  readonly positionals: readonly string[];
  /** The output format. */
  readonly format: Format;
  /** Which of the command's own formats, such as `csv`, if one was asked for. */
  readonly ownFormat: string | undefined;
  /** The outside. */
  readonly io: Io;
  /** The values of its flags. */
  readonly flags: V;
}

/** A command line whose flags are still texts. */
export interface ParsedCall extends Omit<Call, "flags">, GivenFlags {}

/** A command, but for what the table of commands says of it. */
export interface CommandSpec<F extends Flags> {
  /** More, for its own help. */
  readonly description?: string;
  /** Arguments that are not flags, as shown in the usage line. */
  readonly positionals?: readonly {
    readonly name: string;
    readonly help: string;
    readonly optional?: true;
    readonly choices?: readonly string[];
  }[];
  /** Its flags by name; `--format` and `--help` are added. */
  readonly flags: F;
  /** Lines to copy. */
  readonly examples: readonly string[];
  /** Where `--format` is not given and no terminal reads; (default: text). */
  readonly format?: Format;
  /** Formats beside text and JSON; {@linkcode Call.ownFormat} tells which. */
  readonly formats?: readonly string[];
  /** It runs until it is stopped, so an interrupt is its normal end. */
  readonly endless?: true;
  /** Does it and answers with the exit code. */
  run(call: Call<Values<F>>): Promise<number>;
}

/** A command as help and the parser know it: its flags are texts. */
export interface LoadedCommand
  extends Omit<CommandSpec<Flags>, "flags" | "run"> {
  /** Its flags; `--format` and `--help` are added. */
  readonly flags: readonly FlagSpec[];
  /** Does it and answers with the exit code. */
  run(call: ParsedCall): Promise<number>;
}

/** A command whose `run` gets the values of its flags, each read once. */
export function typedCommand<const F extends Flags>(
  spec: CommandSpec<F>,
): LoadedCommand {
  return {
    ...spec,
    flags: flagSpecs(spec.flags),
    run: (call) => spec.run({ ...call, flags: readValues(spec.flags, call) }),
  };
}

/** A row of the table of commands: what is known without loading the command. */
export interface CommandEntry {
  /** Its name. */
  readonly name: string;
  /** Other names. */
  readonly aliases?: readonly string[];
  /** One line for the list of commands. */
  readonly summary: string;
  /** Loads the rest. */
  readonly load: () => Promise<LoadedCommand>;
}

/** A command. */
export interface Command extends LoadedCommand, Omit<CommandEntry, "load"> {}

/** Loads a command of the table. */
export async function loadCommand(
  { load, ...entry }: CommandEntry,
): Promise<Command> {
  return { ...entry, ...await load() };
}
