import type { Command } from "../command.ts";
import { writeJson } from "../output.ts";

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
    const shell = call.positionals[0]!;
    const script = completionScript(shell, COMMANDS);
    if (call.format === "json") writeJson(call.io, { shell, script });
    else call.io.stdout(script);
    return 0;
  },
};
