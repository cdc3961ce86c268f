/** Help, from the same table that parses. @module */

import { flagTable, wordTable } from "@sig/api/flags";
import type { Command } from "./command.ts";
import { flagsOf } from "./parse_command_line.ts";

/** The list of commands. */
export function overallHelp(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  return `sig: signed relationships, published, verified and asked (SIG v0.1)

Usage: sig <command> [flags]

Commands:
${wordTable(rows)}

  sig <command> --help    flags and examples of a command
  sig --version           version

Exit codes: 0 yes or done, 1 a question was answered with no, 2 anything else.

Examples:
  sig init acme.example
  sig upsert --dir acme.example --subject did:web:alice.example --type employee --role deploy
  sig check --sig ./acme.example --subject did:web:alice.example --require role=deploy
`;
}

/** The help of one command. */
export function commandHelp(command: Command, name: string): string {
  const positionals = command.positionals ?? [];
  const words = positionals.map((each) =>
    each.optional ? `[${each.name}]` : `<${each.name}>`
  );
  const required = command.flags.filter((flag) => flag.required)
    .map((flag) => `--${flag.name} ${flag.value}`);
  const usage = ["sig", name, ...words, ...required, "[flags]"].join(" ");
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
Usage: ${usage}
${aliases}${described}
Flags:
${flagTable(flagsOf(command, name))}

Examples:
${command.examples.map((line) => `  ${line}`).join("\n")}
`;
}
