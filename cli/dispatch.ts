/** From the first word to its command. @module */

import type { Command, Format } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { commandHelp, overallHelp } from "./help.ts";
import type { Io } from "./io.ts";
import { reportError } from "./output.ts";
import { parseCommandLine, usageError } from "./parse_command_line.ts";
import { suggest } from "./suggest.ts";

/** Runs the command that the words name. */
export async function dispatch(
  args: readonly string[],
  io: Io,
): Promise<number> {
  const [name, ...words] = args;
  if (name === undefined) {
    io.stderr(overallHelp(COMMANDS));
    return 2;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    return help(words[0], io);
  }
  const command = find(name);
  if (command === undefined) {
    return reportError(io, unknownCommand(name), askedFormat(words) ?? "text");
  }
  let format = askedFormat(words) ?? command.format ?? "text";
  try {
    const call = parseCommandLine(command, name, words, io);
    format = call.format;
    if (call.on("help")) {
      io.stdout(commandHelp(command, name));
      return 0;
    }
    return await command.run(call);
  } catch (error) {
    return reportError(io, error, format);
  }
}

function find(name: string): Command | undefined {
  return COMMANDS.find((command) =>
    command.name === name || command.aliases?.includes(name)
  );
}

function help(name: string | undefined, io: Io): number {
  if (name === undefined) {
    io.stdout(overallHelp(COMMANDS));
    return 0;
  }
  const command = find(name);
  if (command === undefined) {
    return reportError(io, unknownCommand(name), "text");
  }
  io.stdout(commandHelp(command, name));
  return 0;
}

function unknownCommand(name: string) {
  const names = COMMANDS.flatMap(({ name, aliases }) => [
    name,
    ...aliases ?? [],
  ]);
  const near = suggest(name, names);
  return usageError(`there is no command ${JSON.stringify(name)}`, {
    hint: near ? `Did you mean ${near}?` : "See: sig --help",
  });
}

/** The format that was asked for, where the rest can't be understood. */
function askedFormat(words: readonly string[]): Format | undefined {
  const at = words.findIndex((word) => /^--format(?:=|$)/.test(word));
  const value = words[at]?.split("=")[1] ?? words[at + 1];
  return at >= 0 && (value === "json" || value === "text") ? value : undefined;
}
