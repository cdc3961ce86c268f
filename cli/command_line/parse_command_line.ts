/** From words to a {@linkcode Call}. @module */

import { type FlagSpec, parseFlags, suggest, usageError } from "@sig/api/flags";
import type { Call, Command, Format } from "./command.ts";
import type { Io } from "../terminal/io.ts";

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
  const given = parseFlags(words, {
    flags: flagsOf(command, name),
    seeHelp: seeHelp(command),
  });
  if (!given.on("help")) checkPositionals(command, given.positionals);
  return {
    ...given,
    name,
    io,
    format: given.text("format") as Format | undefined ??
      command.format ?? "text",
  };
}

function seeHelp(command: Command): string {
  return `See: sig ${command.name} --help`;
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
