/** Help texts, derived from the definitions that the parser uses. @module */

import {
  example,
  flagRow,
  paragraphs,
  twoColumns,
  usage,
} from "@sig/api/program";
import { widthOf } from "../output/table.ts";
import type { Io } from "../terminal/io.ts";
import { type Command, type CommandEntry, flagsOf } from "./command.ts";

/** Description of `sig` in one line. */
export const ABOUT = "publish, verify and query signed relationships";

/** The exit codes as [code, meaning]. */
export const EXIT_CODES = Object.freeze(
  [
    ["0", "yes or done"],
    ["1", "the answer is no"],
    ["2", "anything else"],
    ["130", "interrupted (0 for a server that answered its last requests)"],
  ] as const,
);

/** The command lines that show more. */
const MORE = Object.freeze(
  [
    ["sig <command> --help", "flags and examples of a command"],
    ["sig --version", "version"],
  ] as const,
);

/** Example command lines. */
export const EXAMPLES = Object.freeze([
  "sig init acme.example",
  "sig upsert --dir acme.example --subject did:web:alice.example --type employee --role deploy",
  "sig check --sig ./acme.example --subject did:web:alice.example --require role=deploy",
]);

/** Returns the list of commands, wrapped to the width of the terminal. */
export function overallHelp(
  commands: readonly CommandEntry[],
  io: Io,
): string {
  const width = widthOf(io);
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  const codes = EXIT_CODES.map((words) => words.join(" ")).join(", ");
  return `${paragraphs(`sig: ${ABOUT} (SIG v0.1)`, width)}

Usage: sig <command> [flags]

Commands:
${twoColumns(rows, width)}

${twoColumns(MORE, width)}

${paragraphs(`Exit codes: ${codes}.`, width)}

Examples:
${EXAMPLES.map((line) => example(line, width)).join("\n")}
`;
}

/** Returns the usage line of a command. */
export function usageLine(command: Command): string {
  const words = (command.positionals ?? []).map((each) =>
    each.optional ? `[${each.name}]` : `<${each.name}>`
  );
  const required = command.flags.filter((flag) => flag.required)
    .map((flag) => `--${flag.name} ${flag.value}`);
  return ["sig", command.name, ...words, ...required, "[flags]"].join(" ");
}

/** Returns the help of a command, wrapped to the width of the terminal. */
export function commandHelp(
  command: Command,
  io: Io,
): string {
  const width = widthOf(io);
  const { description, positionals = [] } = command;
  const words = positionals.map((each) => [each.name, each.help] as const);
  const about = description ? `\n${paragraphs(description, width)}\n` : "";
  const described = words.length > 0
    ? `\nArguments:\n${twoColumns(words, width)}\n`
    : "";
  return `${paragraphs(`sig ${command.name}: ${command.summary}`, width)}
${about}
${usage("Usage: ", usageLine(command), width)}
${described}
Flags:
${twoColumns(flagsOf(command).map(flagRow), width)}

Examples:
${command.examples.map((line) => example(line, width)).join("\n")}
`;
}
