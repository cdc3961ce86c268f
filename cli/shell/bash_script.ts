/** Completions for bash. @module */

import {
  type CommandCompletion,
  type Offer,
  quoteForShell,
} from "./completion.ts";

/**
 * Readline itself completes files and folders, so that names with blanks and
 * quotes are typed as bash needs them. `compopt` exists since bash 4; before,
 * commands and flags are completed, and files are not.
 */
export function bashScript(commands: readonly CommandCompletion[]): string {
  const names = commands.map(({ name }) => name);
  return `# Completions of sig for bash.
_sig() {
  local word="\${COMP_WORDS[COMP_CWORD]}" flag="\${COMP_WORDS[COMP_CWORD-1]}"
  # Bash takes --flag=value for three words.
  if [ "$word" = "=" ]; then word=""
  elif [ "$flag" = "=" ]; then flag="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  local words="" kind="words"
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=${quoteForShell([...names, "--help", "--version"].join(" "))}
  else
    case "\${COMP_WORDS[1]} $flag" in
${commands.flatMap(valueCases).join("\n")}
    *)
      # Which of the words that are no flags stands here is not counted.
      case "\${COMP_WORDS[1]}" in
${commands.map(commandCase).join("\n")}
      esac
      case "$word" in -*) kind="words" ;; esac
      ;;
    esac
  fi
  COMPREPLY=()
  case "$kind" in
    files) compopt -o default 2> /dev/null ;;
    folders) compopt -o dirnames 2> /dev/null ;;
    words) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  esac
}
complete -F _sig sig
`;
}

/** What stands behind a flag. */
function valueCases({ name, flags }: CommandCompletion): readonly string[] {
  return flags.flatMap((flag) =>
    flag.value === undefined
      ? []
      : `      ${quoteForShell(`${name} ${flag.name}`)}) ${set(flag.value)} ;;`
  );
}

function commandCase({ name, flags, words }: CommandCompletion): string {
  const file = words.find(({ offer }) =>
    offer.kind === "files" || offer.kind === "folders"
  );
  const choices = words.flatMap(({ offer }) =>
    offer.kind === "words" ? offer.words : []
  );
  const typed = [...choices, ...flags.map((flag) => flag.name)].join(" ");
  const kind = file === undefined || choices.length > 0
    ? ""
    : ` kind="${file.offer.kind}"`;
  return `        ${name}) words=${quoteForShell(typed)}${kind} ;;`;
}

function set(offer: Offer): string {
  return offer.kind === "words"
    ? `words=${quoteForShell(offer.words.join(" "))}`
    : `kind="${offer.kind}"`;
}
