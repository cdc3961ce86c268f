/** Runs the command that a command line names. @module */

import { usageError } from "@sig/api/program";
import { type SigError, SPEC_VERSION } from "@sig/core";
import { suggest } from "@sig/core/internal";
import { COMMANDS, commandsBelow, findCommand } from "./commands.ts";
import type { Io } from "./terminal/io.ts";
import { askedFormat, reportError } from "./output/report_error.ts";
import { writeJson, writeResult } from "./output/write.ts";
import {
  defaultFormat,
  flagsOf,
  type Format,
  INTERRUPTED,
  loadCommand,
  parseCommandLine,
} from "./command_line/command.ts";
import { resolveSubjects } from "./people/subject.ts";
import { VERSION } from "./terminal/version.ts";

/** Runs the command that the words name, and returns its exit code. */
export async function dispatch(
  args: readonly string[],
  io: Io,
): Promise<number> {
  const { format: before, words } = formatApart(args);
  const asked = askedFormat(args);
  const [first] = words;
  if (first === undefined) {
    if (asked === "json") return reportError(io, missingCommand(), asked);
    const { overallHelp } = await import("./command_line/help.ts");
    io.stderr(overallHelp(COMMANDS, io));
    return 2;
  }
  if (first === "--help" || first === "-h" || first === "help") {
    return await help(words.slice(1), io, asked);
  }
  if (first === "--version" || first === "-V") {
    return version(io, asked);
  }
  if (first === "__complete") return await completeWords(words.slice(1), io);
  const found = findCommand(words);
  if (found === undefined) {
    if (words.some((word) => word === "--help" || word === "-h")) {
      return await help(words, io, asked);
    }
    return reportError(io, unknownCommand(words), asked ?? "text");
  }
  const command = await loadCommand(found.entry);
  let format = asked ?? defaultFormat(command, io);
  try {
    const given = [...before, ...found.words];
    const call = parseCommandLine(command, given, io);
    format = call.format;
    if (call.on("help")) return await help(words, io, asked);
    const ready = await resolveSubjects(command, call);
    if (command.endless) return await command.run(ready);
    const done = command.run(ready);
    // After an interrupt the command may still fail; that must not be an
    // unhandled rejection.
    done.catch(() => {});
    return await Promise.race([
      done,
      io.interrupted()
        .then(() => call.outcome.isPublished ? done : INTERRUPTED),
    ]);
  } catch (error) {
    return reportError(io, error, format);
  }
}

/** `--format` may also precede the command. */
function formatApart(args: readonly string[]) {
  const count = args[0] === "--format"
    ? 2
    : /^--format=/.test(args[0] ?? "")
    ? 1
    : 0;
  return { format: args.slice(0, count), words: args.slice(count) };
}

/** Prints the candidates; on an error nothing, since a shell reads it. */
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
      async load(words) {
        const found = findCommand(words);
        return found &&
          { command: await loadCommand(found.entry), words: found.words };
      },
      async names(dir) {
        const { readPeopleFile } = await import("./people/people.ts");
        const { keys } = await readPeopleFile({ flags: { dir }, io });
        return new Map(
          keys.values().flatMap(({ name, subject }) =>
            name === undefined ? [] : [[subject, name]]
          ),
        );
      },
    });
    for (const line of completionLines(offer)) io.stdout(`${line}\n`);
  } catch {
    // For example, the file of names can be missing.
  }
  return 0;
}

async function help(
  words: readonly string[],
  io: Io,
  format: Format | undefined,
): Promise<number> {
  const flag = words.findIndex((word) => word.startsWith("-"));
  const names = flag < 0 ? words : words.slice(0, flag);
  const found = findCommand(names);
  const { commandHelp, overallHelp } = await import("./command_line/help.ts");
  if (found === undefined) {
    const below = names.length === 0
      ? COMMANDS
      : commandsBelow(names.join(" "));
    if (below.length === 0) {
      return reportError(io, unknownCommand(names), format ?? "text");
    }
    if (format === "json") {
      writeJson(io, await Promise.all(below.map(loadCommand)));
    } else io.stdout(overallHelp(below, io));
    return 0;
  }
  const command = await loadCommand(found.entry);
  writeResult(
    { format: format ?? "text", io },
    { ...command, flags: flagsOf(command) },
    commandHelp(command, io),
  );
  return 0;
}

function version(io: Io, format: Format | undefined): number {
  const about = { name: "sig", version: VERSION, spec_version: SPEC_VERSION };
  writeResult({ format: format ?? "text", io }, about, `sig ${VERSION}\n`);
  return 0;
}

function missingCommand(): SigError {
  return usageError("a command is missing", { hint: "See: sig --help" });
}

function unknownCommand(words: readonly string[]): SigError {
  const at = words.findIndex((word, i) =>
    word.startsWith("-") && i > 0 ||
    commandsBelow(words.slice(0, i + 1).join(" ")).length === 0
  );
  const group = words.slice(0, at < 0 ? undefined : at).join(" ");
  const below = group === "" ? [] : commandsBelow(group);
  if (below.length > 0 && (at < 0 || words[at]!.startsWith("-"))) {
    const next = below.map(({ name }) => name.slice(group.length + 1));
    return usageError(`sig ${group} needs one of ${next.join(", ")}`, {
      hint: `See: sig ${group} --help`,
    });
  }
  const name = words.slice(0, at + 1).join(" ");
  const names = COMMANDS.map(({ name }) => name);
  const near = suggest(name, [...names, "--help", "--version", "--format"]);
  return usageError(`there is no command ${JSON.stringify(name)}`, {
    hint: near ? `Did you mean ${near}?` : "See: sig --help",
  });
}
