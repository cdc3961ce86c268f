import type { Command } from "../command_line/command.ts";
import { writeJson } from "../command_line/output.ts";

/** The shells that it knows; their scripts are loaded for this command alone. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/**
 * `sig completions`
 *
 * @param commands The table of all commands, which this one is in too.
 */
export function createCompletions(commands: () => readonly Command[]): Command {
  return {
    name: "completions",
    summary: "print a completion script for your shell",
    positionals: [{
      name: "shell",
      help: "bash, zsh or fish",
      choices: SHELLS,
    }],
    flags: [],
    examples: [
      "sig completions bash > /etc/bash_completion.d/sig",
      "sig completions zsh > /usr/local/share/zsh/site-functions/_sig",
      "sig completions fish > ~/.config/fish/completions/sig.fish",
    ],
    async run(call) {
      const { completionScript } = await import(
        "../shell/completion_script.ts"
      );
      const shell = call.positionals[0] as typeof SHELLS[number];
      const script = completionScript(shell, commands());
      if (call.format === "json") writeJson(call.io, { shell, script });
      else call.io.stdout(script);
      return 0;
    },
  };
}
