/** From a program's words to its flags, strictly. @module */

import type { SigError } from "@sig/core";
import { quote, suggest } from "@sig/core/internal";
import { parseArgs } from "@std/cli/parse-args";
import { type FlagSpec, type GivenFlags, usageError } from "./flag.ts";

/** What {@linkcode parseFlags} needs to know of a program. */
export interface FlagRules {
  /** Every flag that it knows. */
  readonly flags: readonly FlagSpec[];
  /** Told where nothing better is known, such as `See: sig-api --help`. */
  readonly seeHelp: string;
  /** What to do where a required flag is missing and there are these words. */
  readonly hintOfMissing?: (
    missing: FlagSpec,
    words: readonly string[],
  ) => string | undefined;
}

/** Flags and arguments. */
export interface ParsedFlags extends GivenFlags {
  /** Arguments, in their order. */
  readonly positionals: readonly string[];
}

/**
 * Reads words as flags. Unknown flags, values that are missing or not among the
 * choices, and flags given twice are refused. Where `help` is among them,
 * nothing that is missing is complained about.
 *
 * @example
 * ```ts
 * import { parseFlags } from "@sig/api/flags";
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
  const valued = flags.filter((flag) => flag.value !== undefined);
  const { joined, switches } = joinValues(words, rules);
  const parsed: { readonly [name: string]: unknown } = parseArgs(
    joined,
    {
      // "_" keeps positionals from becoming numbers; everything is collected,
      // so that a flag given twice is seen.
      string: ["_", ...valued.map((flag) => flag.name)],
      collect: valued.map((flag) => flag.name),
    },
  );
  const values = new Map<string, readonly string[]>();
  for (const flag of valued) {
    const given = parsed[flag.name] as readonly string[] | undefined ?? [];
    requireValues(flag, given);
    values.set(flag.name, given);
  }
  const given = new Set<string>();
  for (const name of switches) {
    if (given.has(name)) {
      throw usageError(`--${name} is given twice`, { flag: `--${name}` });
    }
    given.add(name);
  }
  const positionals = (parsed._ as readonly unknown[]).map(String);
  const missing = valued.find((flag) =>
    flag.required && values.get(flag.name)!.length === 0
  );
  if (missing !== undefined && !given.has("help")) {
    throw usageError(`--${missing.name} is required`, {
      flag: `--${missing.name}`,
      hint: rules.hintOfMissing?.(missing, positionals) ?? seeHelp,
    });
  }
  return {
    positionals,
    text: (flag) => values.get(flag)?.[0],
    texts: (flag) => values.get(flag) ?? [],
    on: (flag) => given.has(flag),
  };
}

/**
 * Writes `--flag value` as `--flag=value`, so that a value is what stands behind
 * its flag: `-` (standard input) and `-5%` are values, and the word behind a
 * switch never is one. Switches are taken out, and unknown flags end here: the
 * parser below would read `--no-x=true` as `--x`.
 */
function joinValues(
  words: readonly string[],
  { flags, seeHelp }: FlagRules,
): {
  readonly joined: readonly string[];
  readonly switches: readonly string[];
} {
  const switches: string[] = [];
  const end = words.indexOf("--");
  const open = end < 0 ? words : words.slice(0, end);
  const joined: string[] = [];
  for (let i = 0; i < open.length; i++) {
    const word = open[i] === "-h" ? "--help" : open[i]!;
    if (!word.startsWith("-") || word === "-") {
      joined.push(word);
      continue;
    }
    const [name, value] = splitOnce(word.slice(2));
    const flag = word.startsWith("--")
      ? flags.find((flag) => flag.name === name)
      : undefined;
    if (flag === undefined) throw unknownFlag(word, flags, seeHelp);
    if (flag.value === undefined) {
      if (value !== undefined) {
        throw usageError(`--${name} takes no value`, { flag: `--${name}` });
      }
      switches.push(flag.name);
      continue;
    }
    const next = open[i + 1];
    // Where a flag follows, the value was most likely forgotten.
    const given = value ?? (next?.startsWith("--") ? "" : next ?? "");
    if (given === "") throw needsValue(flag);
    if (value === undefined) i++;
    joined.push(`--${name}=${given}`);
  }
  if (end >= 0) joined.push(...words.slice(end));
  return { joined, switches };
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

/** The one that is often called so, the only one that begins so, one like it. */
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

function requireValues(flag: FlagSpec, given: readonly string[]): void {
  const name = `--${flag.name}`;
  if (given.length > 1 && !flag.repeat) {
    throw usageError(`${name} is given twice`, { flag: name });
  }
  for (const value of given) {
    if (flag.choices && !flag.choices.includes(value)) {
      const near = suggest(value, flag.choices);
      throw usageError(
        `${name} must be one of ${flag.choices.join(", ")}`,
        { flag: name, ...(near ? { hint: `Did you mean ${near}?` } : {}) },
      );
    }
  }
}
