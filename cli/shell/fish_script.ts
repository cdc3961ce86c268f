/** Completions for fish. @module */

import type { CommandCompletion, FlagCompletion, Offer } from "./completion.ts";

/** For a file `sig.fish` in `~/.config/fish/completions`. */
export function fishScript(commands: readonly CommandCompletion[]): string {
  const lines = commands.flatMap((command) => [
    `complete -c sig -n __sig_no_command -a ${command.name} -d ${
      quote(command.summary)
    }`,
    ...command.flags.map((flag) => flagLine(command, flag)),
    ...command.words.flatMap(({ offer }) =>
      offer.kind === "nothing" ? [] : [`${start(command)}${values(offer)}`]
    ),
  ]);
  return `# Completions of sig for fish.
function __sig_no_command
    test (count (commandline -opc)) -eq 1
end
# The first word alone is the command: others may look like one.
function __sig_is
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]
end
complete -c sig -f
complete -c sig -n __sig_no_command -l help -d 'show the help'
complete -c sig -n __sig_no_command -l version -d 'show the version'
${lines.join("\n")}
`;
}

function start({ name }: CommandCompletion): string {
  return `complete -c sig -n '__sig_is ${name}'`;
}

function flagLine(command: CommandCompletion, flag: FlagCompletion): string {
  const name = `-l ${flag.name.slice(2)} -d ${quote(flag.help)}`;
  const value = flag.value === undefined ? "" : ` -r${values(flag.value)}`;
  return `${start(command)} ${name}${value}`;
}

function values(offer: Offer): string {
  switch (offer.kind) {
    case "words":
      return ` -a ${quote(offer.words.join(" "))}`;
    case "files":
      return " -F";
    case "folders":
      return " -f -a '(__fish_complete_directories)'";
    case "nothing":
      return " -f";
  }
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
}
