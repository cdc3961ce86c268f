/**
 * The parser of a command line, which returns a {@linkcode ParsedCall}. @module
 */

import { suggest } from "@sig/core/internal";
import { type FlagSpec, parseFlags, usageError } from "@sig/api/program";
import type { Command, Format, ParsedCall } from "./command.ts";
import type { Io } from "../terminal/io.ts";

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
  if (!given.on("help")) requirePositionals(command, given.positionals);
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
    throw usageError(`unexpected argument: ${JSON.stringify(extra)}`, {
      hint: seeHelp(command),
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
