/** What a command is: help, completions and parsing come from this. @module */

import type { Io } from "./io.ts";

/** A flag of a command. */
export interface FlagSpec {
  /** Without the dashes. */
  readonly name: string;
  /** Shown for its value; a flag without it is a switch. */
  readonly value?: string;
  /** What it does, one line. */
  readonly help: string;
  /** May be given more than once. */
  readonly repeat?: true;
  /** The command does nothing without it. */
  readonly required?: true;
  /** The only values. */
  readonly choices?: readonly string[];
}

/** How a command writes where `--format` is not given. */
export type Format = "text" | "json";

/** A command line that was understood. */
export interface Call {
  /** The name it was called by: the command's, or an alias. */
  readonly name: string;
  /** Words that are no flags. */
  readonly positionals: readonly string[];
  /** The output format. */
  readonly format: Format;
  /** The outside. */
  readonly io: Io;
  /** A flag's value, undefined when not given. */
  text(flag: string): string | undefined;
  /** A repeatable flag's values. */
  texts(flag: string): readonly string[];
  /** Whether a switch is given. */
  on(flag: string): boolean;
}

/** A command. */
export interface Command {
  /** Its name. */
  readonly name: string;
  /** Other names. */
  readonly aliases?: readonly string[];
  /** One line for the list of commands. */
  readonly summary: string;
  /** More, for its own help. */
  readonly description?: string;
  /** Words that are no flags, as shown in the usage line. */
  readonly positionals?: readonly {
    readonly name: string;
    readonly help: string;
    readonly optional?: true;
    readonly choices?: readonly string[];
  }[];
  /** Its flags; `--format` and `--help` are added. */
  readonly flags: readonly FlagSpec[];
  /** Flags of the peer's command line, under the alias only. */
  readonly peerFlags?: readonly FlagSpec[];
  /** Lines to copy. */
  readonly examples: readonly string[];
  /** Where `--format` is not given; text unless told. */
  readonly format?: Format;
  /** It goes on until it is stopped, so that an interrupt is its normal end. */
  readonly endless?: true;
  /** Does it and answers with the exit code. */
  run(call: Call): Promise<number>;
}
