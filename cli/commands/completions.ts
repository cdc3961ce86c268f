import type { Command } from "../command_line/command.ts";
import { writeJson } from "../command_line/output.ts";

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
      choices: ["bash", "zsh", "fish"],
    }],
    flags: [],
    examples: [
      "sig completions bash > /etc/bash_completion.d/sig",
      "sig completions fish > ~/.config/fish/completions/sig.fish",
    ],
    async run(call) {
      const { completionScript } = await import(
        "../command_line/completion_script.ts"
      );
      const shell = call.positionals[0]!;
      const script = completionScript(shell, commands());
      if (call.format === "json") writeJson(call.io, { shell, script });
      else call.io.stdout(script);
      return 0;
    },
  };
}
