/** Definitions of flags, and the values that a program was given. @module */

import { SigError } from "@sig/core";

/**
 * A flag for help, completion and {@linkcode GivenFlags}; its value is a text.
 */
export interface FlagSpec {
  /** The name without dashes. */
  readonly name: string;
  /** The placeholder of its value; a flag without one is a switch. */
  readonly value?: string;
  /** A description of one line. */
  readonly help: string;
  /** Whether it may be given more than once. */
  readonly repeat?: true;
  /** Whether it must be given. */
  readonly required?: true;
  /** The allowed values (default: any). */
  readonly choices?: readonly string[];
  /** As in {@linkcode ValueType}. */
  readonly kind?: "file" | "folder" | "subject";
  /** Names that other tools use for it; the error suggests the right one. */
  readonly mistaken?: readonly string[];
}

/** The flags that were given, as texts. */
export interface GivenFlags {
  /** Returns a flag's value; undefined if not given. */
  text(flag: string): string | undefined;
  /** Returns the values of a repeatable flag. */
  texts(flag: string): readonly string[];
  /** Returns whether a switch is given. */
  on(flag: string): boolean;
  /**
   * Returns the name of a flag at the source of its value (default: `--flag`).
   */
  nameOf?(flag: string): string;
}

/** A type of value: its placeholder and its parser. */
export interface ValueType<T> {
  /** The placeholder in help, such as `DURATION`. */
  readonly placeholder: string;
  /** The allowed texts (default: any that `parse` accepts). */
  readonly choices?: readonly string[];
  /**
   * What the value names (default: nothing known): completion offers files or
   * folders, and the command line accepts a person for a subject.
   */
  readonly kind?: "file" | "folder" | "subject";
  /** As in {@linkcode FlagSpec}. */
  readonly mistaken?: readonly string[];
  /**
   * Parses a value.
   *
   * @param flag The flag for the error, such as `--max-age`.
   * @throws {SigError} as {@linkcode usageError}.
   */
  parse(text: string, flag: string): T;
}

/** Options of a flag in addition to its type. */
export interface FlagOptions {
  /** As in {@linkcode FlagSpec}. */
  readonly mistaken?: readonly string[];
  /** The placeholder in help (default: that of the type). */
  readonly placeholder?: string;
}

/** A flag whose value has a type. Its name is its key in {@linkcode Flags}. */
export interface Flag<T> extends FlagOptions {
  /** A description of one line. */
  readonly help: string;
  /** The type of its value; a flag without one is a switch. */
  readonly type?: ValueType<unknown>;
  /** Whether it may be given more than once. */
  readonly repeat?: true;
  /** Whether it must be given. */
  readonly required?: true;
  /** Never set: carries the type of the value. */
  readonly _value?: T;
}

/** Typed flags by name. */
export type Flags = { readonly [name: string]: Flag<unknown> };

/** The values of typed flags, by name. */
export type Values<F extends Flags> = {
  readonly [N in keyof F]: F[N] extends Flag<infer T> ? T : never;
};

/** Defines an optional flag: its value, or undefined. */
export function optional<T>(
  type: ValueType<T>,
  help: string,
  options: FlagOptions = {},
): Flag<T | undefined> {
  return { ...options, type, help };
}

/** Defines a required flag. */
export function required<T>(
  type: ValueType<T>,
  help: string,
  options: FlagOptions = {},
): Flag<T> {
  return { ...options, type, help, required: true };
}

/** Defines a flag that may be given more than once. */
export function many<T>(
  type: ValueType<T>,
  help: string,
  options: FlagOptions = {},
): Flag<readonly T[]> {
  return { ...options, type, help, repeat: true };
}

/** Defines a switch: whether it is given. */
export function toggle(help: string, options: FlagOptions = {}): Flag<boolean> {
  return { ...options, help };
}

/** Converts typed flags for help, completion and the parser. */
export function flagSpecs(flags: Flags): readonly FlagSpec[] {
  return Object.entries(flags).map(([name, flag]) => {
    const { type, help, repeat, required, mistaken = type?.mistaken } = flag;
    const placeholder = flag.placeholder ?? type?.placeholder;
    return {
      name,
      help,
      ...(placeholder === undefined ? {} : { value: placeholder }),
      ...(type?.choices === undefined ? {} : { choices: type.choices }),
      ...(type?.kind === undefined ? {} : { kind: type.kind }),
      ...(repeat ? { repeat } : {}),
      ...(required ? { required } : {}),
      ...(mistaken ? { mistaken } : {}),
    };
  });
}

/**
 * Returns the values of typed flags, each parsed once.
 *
 * @example
 * ```ts
 * import {
 *   duration,
 *   flagSpecs,
 *   optional,
 *   parseFlags,
 *   readValues,
 *   toggle,
 * } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * const flags = {
 *   "max-age": optional(duration, "how old a state may be"),
 *   public: toggle("allow unauthenticated access from other machines"),
 * };
 * const given = parseFlags(["--max-age", "5m"], {
 *   flags: flagSpecs(flags),
 *   seeHelp: "See: sig-hello --help",
 * });
 * const values = readValues(flags, given);
 * assertEquals(values, { "max-age": 300_000, public: false });
 * ```
 *
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function readValues<F extends Flags>(
  flags: F,
  given: GivenFlags,
): Values<F> {
  const values: { [name: string]: unknown } = {};
  for (const [name, { type, repeat }] of Object.entries(flags)) {
    const read = (text: string | undefined) =>
      text === undefined
        ? undefined
        : type!.parse(text, given.nameOf?.(name) ?? `--${name}`);
    values[name] = type === undefined
      ? given.on(name)
      : repeat
      ? given.texts(name).map(read)
      : read(given.text(name));
  }
  return values as Values<F>;
}

/**
 * Returns an `invalid_request` error with its flag and a hint.
 *
 * @example
 * ```ts
 * import { usageError } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * const error = usageError("--ttl needs a value", { flag: "--ttl" });
 * assertEquals(error.message, "Cannot run: --ttl needs a value");
 * ```
 */
export function usageError(
  why: string,
  context: { readonly flag?: string; readonly hint?: string } = {},
): SigError {
  return new SigError("invalid_request", {
    action: "run",
    reason: why,
    context,
  });
}
