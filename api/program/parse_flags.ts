/** Parses command lines strictly. @module */

import type { SigError } from "@sig/core";
import { quote, suggest } from "@sig/core/internal";
import { type FlagSpec, type GivenFlags, usageError } from "./flag.ts";
import { requireChoice } from "./values.ts";

/** The flags and hints of a program, for {@linkcode parseFlags}. */
export interface FlagRules {
  /** All flags of the program. */
  readonly flags: readonly FlagSpec[];
  /** The hint of last resort, such as `See: sig-api --help`. */
  readonly seeHelp: string;
  /** Returns a hint for a missing required flag, given the arguments. */
  readonly hintOfMissing?: (
    missing: FlagSpec,
    words: readonly string[],
  ) => string | undefined;
}

/** Parsed flags and arguments. */
export interface ParsedFlags extends GivenFlags {
  /** Arguments, in their order. */
  readonly positionals: readonly string[];
}

/**
 * Parses a command line. Rejects unknown flags, values that are missing or not
 * among the choices, and repeated flags that are not repeatable. With `help`,
 * required flags may be missing.
 *
 * @example
 * ```ts
 * import { parseFlags } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * const flags = [{ name: "addr", value: "HOST:PORT", help: "where to listen" }];
 * const given = parseFlags(["--addr", "127.0.0.1:0"], { flags, seeHelp: "" });
 * assertEquals(given.text("addr"), "127.0.0.1:0");
 * ```
 *
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function parseFlags(
  words: readonly string[],
  rules: FlagRules,
): ParsedFlags {
  const { flags, seeHelp } = rules;
  const values = new Map<string, readonly string[]>();
  const positionals: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] === "-h" ? "--help" : words[i]!;
    if (word === "--") {
      positionals.push(...words.slice(i + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      positionals.push(word);
      continue;
    }
    const [name, joined] = splitOnce(word.slice(2));
    const flag = word.startsWith("--")
      ? flags.find((flag) => flag.name === name)
      : undefined;
    if (flag === undefined) throw unknownFlag(word, flags, seeHelp);
    const own = values.get(name) ?? [];
    if (values.has(name) && !flag.repeat) {
      throw usageError(`--${name} is given twice`, { flag: `--${name}` });
    }
    if (flag.value === undefined) {
      if (joined !== undefined) {
        throw usageError(`--${name} takes no value`, { flag: `--${name}` });
      }
      values.set(name, own);
      continue;
    }
    const next = words[i + 1];
    // If a flag follows, the value was probably forgotten.
    const value = joined ?? (next?.startsWith("--") ? "" : next ?? "");
    if (value === "") throw needsValue(flag);
    if (joined === undefined) i++;
    if (flag.choices) requireChoice(value, flag.choices, `--${name}`);
    values.set(name, [...own, value]);
  }
  const on = (flag: string) => values.has(flag);
  const missing = flags.find(({ name, required }) => required && !on(name));
  if (missing !== undefined && !on("help")) {
    throw usageError(`--${missing.name} is required`, {
      flag: `--${missing.name}`,
      hint: rules.hintOfMissing?.(missing, positionals) ?? seeHelp,
    });
  }
  return {
    positionals,
    text: (flag) => values.get(flag)?.[0],
    texts: (flag) => values.get(flag) ?? [],
    on,
  };
}

function splitOnce(text: string): readonly [string, string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function needsValue({ name, value }: FlagSpec): SigError {
  return usageError(`--${name} needs a value: ${value}`, {
    flag: `--${name}`,
    hint: `A value that starts with two dashes is written --${name}=--value.`,
  });
}

function unknownFlag(
  word: string,
  flags: readonly FlagSpec[],
  seeHelp: string,
): SigError {
  const flag = word.replace(/=.*$/s, "");
  const near = nearestFlag(flag, flags);
  return usageError(`there is no flag ${quote(flag)}`, {
    flag,
    hint: near ? `Did you mean ${near}?` : seeHelp,
  });
}

/**
 * Returns the flag with this mistaken name, the only flag with this prefix, or
 * the most similar one.
 */
function nearestFlag(
  flag: string,
  flags: readonly FlagSpec[],
): string | undefined {
  const meant = flags.find(({ mistaken }) => mistaken?.includes(flag.slice(2)));
  if (meant) return `--${meant.name}`;
  const names = flags.map((each) => `--${each.name}`);
  const begun = names.filter((name) => name.startsWith(flag));
  return begun.length === 1 ? begun[0] : suggest(flag, names);
}
