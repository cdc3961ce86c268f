/** From the first word to its command. @module */

import { usageError } from "@sig/api/flags";
import { type SigError, SPEC_VERSION } from "@sig/core";
import { suggest } from "@sig/core/internal";
import {
  type Format,
  INTERRUPTED,
  loadCommand,
} from "./command_line/command.ts";
import { COMMANDS, findCommand, loadCommands } from "./commands.ts";
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
    return await help(words[0], io, asked);
  }
  if (name === "--version" || name === "-V") {
    return version(io, asked);
  }
  if (name === "__complete") return await completeWords(words, io);
  const entry = findCommand(name);
  if (entry === undefined) {
    return reportError(io, unknownCommand(name), asked ?? "text");
  }
  const command = await loadCommand(entry);
  let format = asked ?? defaultFormat(command, io);
  try {
    const call = parseCommandLine(command, name, words, io);
    format = call.format;
    if (call.on("help")) return await help(name, io, asked);
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

/** Offers nothing rather than a message: a shell asks, not a person. */
async function completeWords(
  [, ...words]: readonly string[],
  io: Io,
): Promise<number> {
  try {
    const { complete, completionLines } = await import(
      "./command_line/complete.ts"
    );
    const offer = await complete(words, {
      commands: COMMANDS,
      async load(name) {
        const entry = findCommand(name);
        return entry && await loadCommand(entry);
      },
      async names(dir) {
        const { namesFile } = await import("./people/names.ts");
        const { MAX_NAMES_BYTES, readNames } = await import("@sig/web/names");
        const path = namesFile(dir);
        const bytes = await io.readFile(path, MAX_NAMES_BYTES);
        return new Map(Array.from(
          readNames(bytes, path),
          ([subject, { name }]) => [subject, name],
        ));
      },
    });
    for (const line of completionLines(offer)) io.stdout(`${line}\n`);
  } catch {
    // Without the file of names, for example, nothing is known.
  }
  return 0;
}

async function help(
  name: string | undefined,
  io: Io,
  format: Format | undefined,
): Promise<number> {
  const word = name?.startsWith("-") ? undefined : name;
  if (word === undefined) {
    if (format === "json") writeJson(io, await loadCommands());
    else io.stdout(overallHelp(COMMANDS, widthOf(io)));
    return 0;
  }
  const entry = findCommand(word);
  if (entry === undefined) {
    return reportError(io, unknownCommand(word), format ?? "text");
  }
  const command = await loadCommand(entry);
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
