/** Completions for zsh. @module */

import {
  type CommandCompletion,
  type FlagCompletion,
  type Offer,
  quoteForShell as quote,
} from "./completion.ts";

/** For a file `_sig` in a folder of `fpath`, or to be sourced. */
export function zshScript(commands: readonly CommandCompletion[]): string {
  return `#compdef sig
# Completions of sig for zsh.
_sig() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(commandLine).join("\n")}
    )
    _describe -t commands command commands
    return
  fi
  # For _arguments a command stands first.
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${commands.map(commandCase).join("\n")}
  esac
}
# Autoloaded, this file is the function's body; sourced, it is not.
if [ "$funcstack[1]" = _sig ]; then _sig "$@"; else compdef _sig sig; fi
`;
}

function commandLine({ name, summary }: CommandCompletion): string {
  return `      ${quote(`${name}:${escape(summary)}`)}`;
}

function commandCase({ name, flags, words }: CommandCompletion): string {
  const specs = [
    ...flags.map(flagSpec),
    ...words.map((word, at) =>
      `${at + 1}:${escape(word.name)}:${action(word.offer)}`
    ),
  ];
  return `    ${name})
      _arguments \\
${specs.map((spec) => `        ${quote(spec)}`).join(" \\\n")}
      ;;`;
}

function flagSpec(flag: FlagCompletion): string {
  const start = `${flag.repeat ? "*" : ""}${flag.name}`;
  const help = `[${escape(flag.help)}]`;
  if (flag.value === undefined) return start + help;
  return `${start}=${help}:${escape(flag.valueName)}:${action(flag.value)}`;
}

/** What `_arguments` does for a value; a blank means that nothing is known. */
function action(offer: Offer): string {
  switch (offer.kind) {
    case "words":
      return `(${offer.words.join(" ")})`;
    case "files":
      return "_files";
    case "folders":
      return "_path_files -/";
    case "nothing":
      return " ";
  }
}

/** Text within a specification of `_arguments` and `_describe`. */
function escape(text: string): string {
  return text.replaceAll(/[\\:[\]]/g, "\\$&");
}
