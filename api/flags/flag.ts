/** What a flag is, and the values that a program was given. @module */

import { SigError } from "@sig/core";

/** A flag as help, completion and {@linkcode GivenFlags} know it: a text. */
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
  /** Names that people give it elsewhere; the error suggests the right one. */
  readonly mistaken?: readonly string[];
}

/** The flags that were given, as texts. */
export interface GivenFlags {
  /** A flag's value, undefined when not given. */
  text(flag: string): string | undefined;
  /** A repeatable flag's values. */
  texts(flag: string): readonly string[];
  /** Whether a switch is given. */
  on(flag: string): boolean;
  /** What a flag is called where its value comes from (default: `--flag`). */
  nameOf?(flag: string): string;
}

/** A kind of value: how it is shown, and how its text is read. */
export interface ValueType<T> {
  /** Shown for the value, such as `DURATION`. */
  readonly placeholder: string;
  /** The only texts, where there are few. */
  readonly choices?: readonly string[];
  /**
   * Reads it.
   *
   * @param flag Such as `--max-age`, for the error.
   * @throws {SigError} as {@linkcode usageError}.
   */
  parse(text: string, flag: string): T;
}

/** How a flag is given, beside its type. */
export interface FlagOptions {
  /** As of {@linkcode FlagSpec}. */
  readonly mistaken?: readonly string[];
  /** Shown for the value instead of the type's placeholder. */
  readonly placeholder?: string;
}

/** A flag whose value has a type. Its name is its key in {@linkcode Flags}. */
export interface Flag<T> extends FlagOptions {
  /** What it does, one line. */
  readonly help: string;
  /** Of its value; a flag without it is a switch. */
  readonly type?: ValueType<unknown>;
  /** May be given more than once. */
  readonly repeat?: true;
  /** The command does nothing without it. */
  readonly required?: true;
  /** Never there: it carries the type of the value. */
  readonly _value?: T;
}

/** Typed flags by name. */
export type Flags = { readonly [name: string]: Flag<unknown> };

/** The values of typed flags. */
export type Values<F extends Flags> = {
  readonly [N in keyof F]: F[N] extends Flag<infer T> ? T : never;
};

/** A flag that may be left out: its value, or undefined. */
export function optional<T>(
  type: ValueType<T>,
  help: string,
  options: FlagOptions = {},
): Flag<T | undefined> {
  return { ...options, type, help };
}

/** A flag that must be given. */
export function required<T>(
  type: ValueType<T>,
  help: string,
  options: FlagOptions = {},
): Flag<T> {
  return { ...options, type, help, required: true };
}

/** A flag that may be given more than once. */
export function many<T>(
  type: ValueType<T>,
  help: string,
  options: FlagOptions = {},
): Flag<readonly T[]> {
  return { ...options, type, help, repeat: true };
}

/** A switch: whether it is given. */
export function toggle(help: string, options: FlagOptions = {}): Flag<boolean> {
  return { ...options, help };
}

/** Typed flags as help, completion and the parser know them. */
export function flagSpecs(flags: Flags): readonly FlagSpec[] {
  return Object.entries(flags).map(([name, flag]) => {
    const { type, help, repeat, required, mistaken } = flag;
    const placeholder = flag.placeholder ?? type?.placeholder;
    return {
      name,
      help,
      ...(placeholder === undefined ? {} : { value: placeholder }),
      ...(type?.choices === undefined ? {} : { choices: type.choices }),
      ...(repeat ? { repeat } : {}),
      ...(required ? { required } : {}),
      ...(mistaken ? { mistaken } : {}),
    };
  });
}

/**
 * The values of typed flags, each read once.
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
 * } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * const flags = {
 *   "max-age": optional(duration, "how old a state may be"),
 *   public: toggle("answer everyone"),
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
 * `invalid_request` with the flag that it is about and what to do next.
 *
 * @example
 * ```ts
 * import { usageError } from "@sig/api/flags";
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
  return new SigError("invalid_request", `Cannot run: ${why}`, { context });
}
