/** From words to a {@linkcode Call}. @module */

import { SigError } from "@sig/core";
import { parseArgs } from "@std/cli/parse-args";
import type { Call, Command, FlagSpec, Format } from "./command.ts";
import type { Io } from "./io.ts";
import { suggest } from "./suggest.ts";

/** Flags that every command has. */
export const COMMON_FLAGS: readonly FlagSpec[] = [
  {
    name: "format",
    value: "text|json",
    help: "how results are written",
    choices: ["text", "json"],
  },
  { name: "help", help: "show this help" },
];

/** The flags of a command under one of its names. */
export function flagsOf(command: Command, name: string): readonly FlagSpec[] {
  const peer = name === command.name ? [] : command.peerFlags ?? [];
  return [...command.flags, ...peer, ...COMMON_FLAGS];
}

/** The error of a command line that can't be meant. */
export function usageError(
  why: string,
  context: { readonly flag?: string; readonly hint?: string } = {},
): SigError {
  return new SigError("invalid_request", `Cannot run: ${why}`, { context });
}

/**
 * Reads a command's words, strictly.
 *
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function parseCommandLine(
  command: Command,
  name: string,
  words: readonly string[],
  io: Io,
): Call {
  const flags = flagsOf(command, name);
  const valued = flags.filter((flag) => flag.value !== undefined);
  const switches = flags.filter((flag) => flag.value === undefined);
  const parsed: { readonly [name: string]: unknown } = parseArgs(
    joinValues(words, command, flags),
    {
      // "_" keeps positionals from becoming numbers; everything is collected,
      // so that a flag given twice is seen.
      string: ["_", ...valued.map((flag) => flag.name)],
      boolean: switches.map((flag) => flag.name),
      collect: flags.map((flag) => flag.name),
    },
  );
  const values = new Map<string, readonly string[]>();
  for (const flag of valued) {
    const given = parsed[flag.name] as readonly string[] | undefined ?? [];
    checkValues(flag, given);
    values.set(flag.name, given);
  }
  const given = new Set<string>();
  for (const { name } of switches) {
    const times = (parsed[name] as readonly boolean[]).length;
    if (times > 1) {
      throw usageError(`--${name} is given twice`, { flag: `--${name}` });
    }
    if (times === 1) given.add(name);
  }
  const positionals = (parsed._ as readonly unknown[]).map(String);
  const help = given.has("help");
  if (!help) {
    for (const flag of valued) {
      if (flag.required && values.get(flag.name)!.length === 0) {
        throw usageError(`--${flag.name} is required`, {
          flag: `--${flag.name}`,
          hint: seeHelp(command),
        });
      }
    }
    checkPositionals(command, positionals);
  }
  return {
    name,
    positionals,
    io,
    format: values.get("format")?.[0] as Format | undefined ??
      command.format ?? "text",
    text: (flag) => values.get(flag)?.[0],
    texts: (flag) => values.get(flag) ?? [],
    on: (flag) => given.has(flag),
  };
}

/**
 * Writes `--flag value` as `--flag=value`, so that a value is what stands behind
 * its flag: `-` (standard input) and `-5%` are values, and the word behind a
 * switch never is one. Unknown flags end here: the parser below would read
 * `--no-x=true` as `--x`.
 */
function joinValues(
  words: readonly string[],
  command: Command,
  flags: readonly FlagSpec[],
): readonly string[] {
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
    if (flag === undefined) throw unknownFlag(word, command, flags);
    if (flag.value === undefined) {
      if (value !== undefined) {
        throw usageError(`--${name} takes no value`, { flag: `--${name}` });
      }
      joined.push(`--${name}=true`);
      continue;
    }
    const next = open[i + 1];
    // Where a flag follows, the value was most likely forgotten.
    const given = value ?? (next?.startsWith("--") ? "" : next ?? "");
    if (given === "") throw needsValue(flag);
    if (value === undefined) i++;
    joined.push(`--${name}=${given}`);
  }
  return end < 0 ? joined : [...joined, ...words.slice(end)];
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

function seeHelp(command: Command): string {
  return `See: sig ${command.name} --help`;
}

function unknownFlag(
  word: string,
  command: Command,
  flags: readonly FlagSpec[],
): SigError {
  const flag = word.replace(/=.*$/s, "");
  const names = flags.map((each) => `--${each.name}`);
  const near = suggest(flag, names);
  return usageError(`there is no flag ${JSON.stringify(flag)}`, {
    flag,
    hint: near ? `Did you mean ${near}?` : seeHelp(command),
  });
}

function checkValues(flag: FlagSpec, given: readonly string[]): void {
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

function checkPositionals(
  command: Command,
  given: readonly string[],
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
    throw usageError(`${JSON.stringify(extra)} is one word too many`, {
      hint: seeHelp(command),
    });
  }
  for (const [i, { name, choices }] of wanted.entries()) {
    const word = given[i];
    if (word === undefined || !choices || choices.includes(word)) continue;
    const near = suggest(word, choices);
    throw usageError(
      `<${name}> must be one of ${choices.join(", ")}`,
      near ? { hint: `Did you mean ${near}?` } : {},
    );
  }
}
