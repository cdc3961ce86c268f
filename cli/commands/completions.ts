import type { Command } from "../command.ts";

/** `sig completions` */
export const completions: Command = {
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
    // Late: the table holds this command too.
    const { COMMANDS } = await import("../commands.ts");
    const { completionScript } = await import("../completion_script.ts");
    call.io.stdout(completionScript(call.positionals[0]!, COMMANDS));
    return 0;
  },
};
