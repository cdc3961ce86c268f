/** From the first word to its command. @module */

import { usageError } from "@sig/api/flags";
import { type SigError, SPEC_VERSION, suggest } from "@sig/core";
import {
  type Command,
  type Format,
  INTERRUPTED,
} from "./command_line/command.ts";
import { COMMANDS } from "./commands.ts";
import { commandHelp, overallHelp } from "./command_line/help.ts";
import type { Io } from "./terminal/io.ts";
import { askedFormat, reportError } from "./output/report_error.ts";
import { widthOf } from "./output/table.ts";
import { writeJson } from "./output/write.ts";
import {
  defaultFormat,
  flagsOf,
  parseCommandLine,
} from "./command_line/parse_command_line.ts";
import { VERSION } from "./terminal/version.ts";

/** Runs the command that the words name. */
export async function dispatch(
  args: readonly string[],
  io: Io,
): Promise<number> {
  const [name, ...words] = formatBehind(args);
  const asked = askedFormat(args);
  if (name === undefined) {
    if (asked === "json") return reportError(io, missingCommand(), asked);
    io.stderr(overallHelp(COMMANDS, widthOf(io)));
    return 2;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    return help(words[0], io, asked);
  }
  if (name === "--version" || name === "-V") {
    return version(io, asked);
  }
  const command = find(name);
  if (command === undefined) {
    return reportError(io, unknownCommand(name), asked ?? "text");
  }
  let format = asked ?? defaultFormat(command, io);
  try {
    const call = parseCommandLine(command, name, words, io);
    format = call.format;
    if (call.on("help")) return help(name, io, asked);
    if (command.endless) return await command.run(call);
    const done = command.run(call);
    // It loses the race when interrupted, and may fail then.
    done.catch(() => {});
    return await Promise.race([
      done,
      io.interrupted().then(() => INTERRUPTED),
    ]);
  } catch (error) {
    return reportError(io, error, format);
  }
}

/** `--format` may stand before the command as well. */
function formatBehind(args: readonly string[]): readonly string[] {
  const count = args[0] === "--format"
    ? 2
    : /^--format=/.test(args[0] ?? "")
    ? 1
    : 0;
  const [name, ...words] = args.slice(count);
  return name === undefined ? [] : [name, ...args.slice(0, count), ...words];
}

function find(name: string): Command | undefined {
  return COMMANDS.find((command) =>
    command.name === name || command.aliases?.includes(name)
  );
}

function help(
  name: string | undefined,
  io: Io,
  format: Format | undefined,
): number {
  const word = name?.startsWith("-") ? undefined : name;
  if (word === undefined) {
    if (format === "json") writeJson(io, COMMANDS);
    else io.stdout(overallHelp(COMMANDS, widthOf(io)));
    return 0;
  }
  const command = find(word);
  if (command === undefined) {
    return reportError(io, unknownCommand(word), format ?? "text");
  }
  if (format === "json") {
    writeJson(io, { ...command, flags: flagsOf(command) });
  } else io.stdout(commandHelp(command, word, widthOf(io)));
  return 0;
}

function version(io: Io, format: Format | undefined): number {
  if (format === "json") {
    writeJson(io, {
      name: "sig",
      version: VERSION,
      spec_version: SPEC_VERSION,
    });
  } else io.stdout(`sig ${VERSION}\n`);
  return 0;
}

function missingCommand(): SigError {
  return usageError("a command is missing", { hint: "See: sig --help" });
}

function unknownCommand(name: string): SigError {
  const names = COMMANDS.flatMap(({ name, aliases }) => [
    name,
    ...aliases ?? [],
  ]);
  const near = suggest(name, [...names, "--help", "--version", "--format"]);
  return usageError(`there is no command ${JSON.stringify(name)}`, {
    hint: near ? `Did you mean ${near}?` : "See: sig --help",
  });
}
