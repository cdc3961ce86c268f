/** Help, from the same table that parses. @module */

import { flagTable, wordTable } from "@sig/api/flags";
import type { Command } from "./command.ts";
import { flagsOf } from "./parse_command_line.ts";

/** What `sig` is, in one line. */
export const ABOUT = "signed relationships, published, verified and asked";

/** What the exit codes mean, as [code, meaning]. */
export const EXIT_CODES = Object.freeze(
  [
    ["0", "yes or done"],
    ["1", "a question was answered with no"],
    ["2", "anything else"],
    ["130", "interrupted"],
  ] as const,
);

/** Lines to copy that show what it is for. */
export const EXAMPLES = Object.freeze([
  "sig init acme.example",
  "sig upsert --dir acme.example --subject did:web:alice.example --type employee --role deploy",
  "sig check --sig ./acme.example --subject did:web:alice.example --require role=deploy",
]);

/** The list of commands. */
export function overallHelp(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  return `sig: ${ABOUT} (SIG v0.1)

Usage: sig <command> [flags]

Commands:
${wordTable(rows)}

  sig <command> --help    flags and examples of a command
  sig --version           version

Exit codes: ${EXIT_CODES.map((words) => words.join(" ")).join(", ")}.

Examples:
${EXAMPLES.map((line) => `  ${line}`).join("\n")}
`;
}

/** How a command is typed. */
export function usageLine(command: Command, name: string): string {
  const words = (command.positionals ?? []).map((each) =>
    each.optional ? `[${each.name}]` : `<${each.name}>`
  );
  const required = command.flags.filter((flag) => flag.required)
    .map((flag) => `--${flag.name} ${flag.value}`);
  return ["sig", name, ...words, ...required, "[flags]"].join(" ");
}

/** The help of one command. */
export function commandHelp(command: Command, name: string): string {
  const positionals = command.positionals ?? [];
  const aliases = command.aliases
    ? `\nAlso called: ${command.aliases.join(", ")}\n`
    : "";
  const about = command.description ? `\n${command.description}\n` : "";
  const described = positionals.length > 0
    ? `\nWords:\n${
      wordTable(positionals.map((each) => [each.name, each.help] as const))
    }\n`
    : "";
  return `sig ${name}: ${command.summary}
${about}
Usage: ${usageLine(command, name)}
${aliases}${described}
Flags:
${flagTable(flagsOf(command, name))}

Examples:
${command.examples.map((line) => `  ${line}`).join("\n")}
`;
}
