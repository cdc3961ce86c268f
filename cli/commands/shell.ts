import { typedCommand } from "../command_line/command.ts";
import { writeResult } from "../output/write.ts";
import bash from "./completions.bash" with { type: "text" };
import fish from "./completions.fish" with { type: "text" };
import zsh from "./completions.zsh" with { type: "text" };

const SCRIPTS: { readonly [shell: string]: string } = { bash, zsh, fish };

/** `sig completions` */
export const completions = typedCommand({
  description: "The script calls sig __complete for suggestions.",
  positionals: [{
    name: "shell",
    help: Object.keys(SCRIPTS).join(", "),
    choices: Object.keys(SCRIPTS),
  }],
  flags: {},
  examples: [
    "sig completions bash > /etc/bash_completion.d/sig",
    "sig completions zsh > /usr/local/share/zsh/site-functions/_sig",
    "sig completions fish > ~/.config/fish/completions/sig.fish",
  ],
  // deno-lint-ignore require-await -- a command answers with a promise
  async run(call) {
    const shell = call.positionals[0]!;
    const script = SCRIPTS[shell]!;
    writeResult(call, { shell, script }, script);
  },
});
