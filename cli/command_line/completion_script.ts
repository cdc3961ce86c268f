/** Completion scripts, from the same table that parses. @module */

import type { Command } from "./command.ts";
import { flagsOf } from "./parse_command_line.ts";

interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
}

/** The script for `bash`, `zsh` or `fish`. */
export function completionScript(
  shell: string,
  commands: readonly Command[],
): string {
  const entries = commands.flatMap((command) =>
    [command.name, ...command.aliases ?? []].map((name) => ({
      name,
      summary: command.summary,
      flags: flagsOf(command, name).map((flag) => `--${flag.name}`),
    }))
  );
  if (shell === "fish") return fish(entries);
  return shell === "zsh" ? zsh(entries) : bash(entries);
}

function cases(entries: readonly Entry[]): string {
  return entries.map(({ name, flags }) =>
    `    ${name}) words="${flags.join(" ")}" ;;`
  ).join("\n");
}

function bash(entries: readonly Entry[]): string {
  return `_sig() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${entries.map(({ name }) => name).join(" ")} --help --version"
  else case "\${COMP_WORDS[1]}" in
${cases(entries)}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ -z "\${COMPREPLY[*]}" ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _sig sig
`;
}

function zsh(entries: readonly Entry[]): string {
  const flags = entries.map(({ name, flags }) =>
    `    ${name}) compadd -- ${flags.join(" ")} ;;`
  );
  return `#compdef sig
_sig() {
  if (( CURRENT == 2 )); then
    compadd -- ${entries.map(({ name }) => name).join(" ")} --help --version
    return
  fi
  case "$words[2]" in
${flags.join("\n")}
  esac
  _files
}
compdef _sig sig
`;
}

function fish(entries: readonly Entry[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
  const lines = entries.flatMap(({ name, summary, flags }) => [
    `complete -c sig -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ...flags.map((flag) =>
      `complete -c sig -n '__fish_seen_subcommand_from ${name}' -l ${
        flag.slice(2)
      }`
    ),
  ]);
  return `${lines.join("\n")}\n`;
}
