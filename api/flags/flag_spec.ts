/** What a flag is, and the flags that a program was given. @module */

/** A flag of a command; help, completions and parsing come from this. */
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
  /** Names that people give it elsewhere; who writes one is told the right one. */
  readonly mistaken?: readonly string[];
}

/** The flags that were given. */
export interface GivenFlags {
  /** A flag's value, undefined when not given. */
  text(flag: string): string | undefined;
  /** A repeatable flag's values. */
  texts(flag: string): readonly string[];
  /** Whether a switch is given. */
  on(flag: string): boolean;
}
