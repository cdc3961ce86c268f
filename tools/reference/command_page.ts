/**
 * `docs/reference/command-line.md`, generated from the definitions of the
 * commands. @module
 */

import {
  flagRow,
  type FlagSpec,
  isSample,
  partsOf,
  type ServerProgram,
} from "@sig/api/program";
import { apiProgram } from "@sig/api/internal/sig-api";
import { webProgram } from "@sig/web/sig-web";
import type { Command } from "../../cli/command_line/command.ts";
import { usageLine } from "../../cli/command_line/help.ts";
import { loadCommands } from "../../cli/commands.ts";

const COMMANDS = await loadCommands();

/** Returns the page as Markdown. */
export function commandPage(): string {
  const list = COMMANDS.map(({ name, summary }) =>
    `| [\`sig ${name}\`](#sig-${name.replaceAll(" ", "-")}) | ${summary} |`
  ).join("\n");
  const servers = [apiProgram, webProgram].map(serverSection);
  const commands = COMMANDS.filter(({ name }) =>
    name !== "api" && name !== "web"
  )
    .map(commandSection);
  return `# The command line

${INTRODUCTION}

| command | what it does |
| --- | --- |
${list}

${[...commands, ...servers].join("\n")}`;
}

const INTRODUCTION =
  `\`sig <command> --help\` prints what stands here. Every command has
\`--format text|json\` and \`--help\`; \`sig --version\` prints the version.

| exit code | means |
| --- | --- |
| 0 | yes, or done |
| 1 | a question was answered with no: \`check\` denies, \`verify\` found a fault |
| 2 | no answer, or not done: everything else |
| 130 | interrupted; a server that is stopped by a signal ends with 0 |

Results go to standard output, everything else to standard error. With
\`--format json\` standard output is one JSON value (\`log\`: one event a line); on
exit code 2 it is empty, and standard error is one problem object.

A **source** is \`did:web:host\`, a host name, an https URL of a \`sig.json\`, a
\`sig.json\` file, or a directory that holds \`.well-known\`. A path contains \`/\`,
starts with \`.\` or ends in \`.json\`; any other word is a host. A duration is a
number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`. A time is RFC 3339 UTC, or a date:
the start of that day, UTC; for \`--to\` and \`--valid-until\`, through its end.`;

function commandSection(command: Command): string {
  const { description, examples, flags, name, summary } = command;
  const { positionals = [] } = command;
  const usage = usageLine(command);
  return [
    `## \`sig ${name}\``,
    ...partsOf(sentence(summary) + (description ? ` ${description}` : ""))
      .map((part) => isSample(part) ? fence(part.split("\n")) : part),
    fence([usage]),
    positionals.length > 0 ? table("word", positionals.map(wordRow)) : "",
    flagTable(flags),
    fence(examples),
  ].filter((part) => part !== "").join("\n\n") + "\n";
}

function serverSection(program: ServerProgram): string {
  const name = program.name.replace("-", " ");
  return [
    `## \`${name}\``,
    `${sentence(program.summary)} Alone it is the program \`${program.name}\`.`,
    flagTable(program.flags),
    fence(program.examples.map((line) => line.replace(program.name, name))),
  ].join("\n\n") + "\n";
}

function flagTable(flags: readonly FlagSpec[]): string {
  return flags.length === 0 ? "" : table("flag", flags.map(flagRow));
}

function wordRow(
  word: NonNullable<Command["positionals"]>[number],
): readonly [string, string] {
  return [word.name, word.help + (word.optional ? " (optional)" : "")];
}

function table(
  head: string,
  rows: readonly (readonly [string, string])[],
): string {
  const lines = rows.map(([name, help]) =>
    `| \`${cell(name)}\` | ${cell(help).replaceAll("<", "\\<")} |`
  );
  return `| ${head} | |\n| --- | --- |\n${lines.join("\n")}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function fence(lines: readonly string[]): string {
  return `\`\`\`text\n${lines.join("\n")}\n\`\`\``;
}
