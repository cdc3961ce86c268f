/**
 * A real shell on a terminal, in which a fake `sig` records its arguments.
 * @module
 */

import { TestProcess } from "../../tests/kit/process.ts";
import { programArgs } from "../../tests/kit/programs.ts";
import { Workspace } from "./workspace.ts";

/** A shell whose completions are tested. */
export type ShellName = "bash" | "zsh" | "fish";

/** Printed by the fake `sig`, which writes its arguments to a file. */
const DONE = "sig-was-called";
const READY = "ready> ";

/**
 * The real program answers completion requests; other arguments are recorded.
 */
const REAL = [Deno.execPath(), "run", "-A", "--quiet", ...programArgs("cli")]
  .map((word) => `"${word}"`).join(" ");
const SIG =
  `if [ "$1" = __complete ]; then ${REAL} "$@"; else printf '%s\\n' "$@" > words; echo ${DONE}; fi`;
const SIZE = "stty rows 400 cols 200";

const START: { readonly [shell in ShellName]: string } = {
  bash: `PS1='${READY}'
${SIZE}
bind 'set bell-style none'
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind 'set show-all-if-ambiguous on'
bind 'set enable-bracketed-paste off'
source ./completions
sig() { ${SIG}; }
`,
  zsh: `PS1='${READY}'
${SIZE}
unsetopt beep prompt_sp
LISTMAX=0
# Keys come faster than a person types.
zstyle ':completion:*' insert-tab false
# As it is installed: a file _sig in a folder of fpath.
fpath=($PWD/functions $fpath)
autoload -Uz compinit
compinit -u -D
sig() { ${SIG}; }
`,
  fish: `function fish_prompt; printf '${READY}'; end
${SIZE}
set -g fish_greeting
set -g fish_autosuggestion_enabled 0
source ./completions
function sig
  if test "$argv[1]" = __complete; ${REAL} $argv
  else; printf '%s\\n' $argv > words; echo ${DONE}; end
end
`,
};

const WORDS: { readonly [shell in ShellName]: readonly string[] } = {
  bash: ["bash", "--noprofile", "--rcfile", "start", "-i"],
  zsh: ["zsh", "-i"],
  fish: ["fish", "--no-config", "--init-command", "'source start'", "-i"],
};

/** An open shell. */
export class Shell implements AsyncDisposable {
  readonly #dir: string;
  readonly #process: TestProcess;
  /** Length of the output that was already read. */
  #seen = 0;

  private constructor(dir: string, process: TestProcess) {
    this.#dir = dir;
    this.#process = process;
  }

  /** Starts a shell in a temporary folder, with completions installed. */
  static async open(
    shell: ShellName,
    files: { readonly [name: string]: string },
  ): Promise<Shell> {
    const dir = await Deno.makeTempDir();
    const script = await new Workspace(dir).ok(["completions", shell]);
    await Deno.mkdir(`${dir}/functions`);
    for (
      const [name, text] of [
        ["completions", script],
        ["functions/_sig", script],
        [shell === "zsh" ? ".zshrc" : "start", START[shell]],
        ...Object.entries(files),
      ] as const
    ) {
      const folder = `${dir}/${name}`.replace(/\/[^/]*$/, "");
      await Deno.mkdir(folder, { recursive: true });
      if (!name.endsWith("/")) await Deno.writeTextFile(`${dir}/${name}`, text);
    }
    const args = ["-qfec", WORDS[shell].join(" "), "/dev/null"];
    const process = new TestProcess("script", args, {
      cwd: dir,
      clearEnv: true,
      env: {
        PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
        // The module cache, which is not in this HOME.
        DENO_DIR: Deno.env.get("DENO_DIR") ??
          `${Deno.env.get("HOME")}/.cache/deno`,
        HOME: dir,
        ZDOTDIR: dir,
        TERM: "xterm",
        LC_ALL: "C.UTF-8",
      },
      stdin: "open",
    });
    const opened = new Shell(dir, process);
    await opened.#until(READY);
    return opened;
  }

  /** Types arguments of `sig` (`\t` completes); returns the words it gets. */
  async wordsOf(typed: string): Promise<readonly string[]> {
    await this.#type(`sig ${typed}\r`);
    await this.#called();
    const text = await Deno.readTextFile(`${this.#dir}/words`);
    return text.trimEnd().split("\n");
  }

  /** Returns the text that the shell shows when it completes the last word. */
  async listOf(typed: string): Promise<string> {
    await this.#type(`sig ${typed}\t\t`);
    // Clears the line and waits for another command, after which the list is
    // complete.
    await this.#type("\x15sig\r");
    return await this.#called();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#type("\x15exit\r");
    await this.#process.ended();
    await Deno.remove(this.#dir, { recursive: true });
  }

  async #type(text: string): Promise<void> {
    await this.#process.write(text);
  }

  /**
   * Waits for `sig` and the next prompt, since some shells lose earlier keys.
   */
  async #called(): Promise<string> {
    const shown = await this.#until(DONE);
    await this.#until(READY);
    return shown;
  }

  /** Waits for a text on the screen, and returns the text before it. */
  async #until(text: string): Promise<string> {
    const { index } = await this.#process.said(text, this.#seen);
    const at = this.#seen + index;
    const before = this.#process.stdout.slice(this.#seen, at);
    this.#seen = at + text.length;
    return before;
  }
}
