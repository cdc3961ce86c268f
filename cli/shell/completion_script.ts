/** Completion scripts, from the same table that parses. @module */

import type { Command } from "../command_line/command.ts";
import { bashScript } from "./bash_script.ts";
import { completionTable } from "./completion.ts";
import { fishScript } from "./fish_script.ts";
import { zshScript } from "./zsh_script.ts";

const SCRIPTS = Object.freeze({
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
});

/** A shell that completions are made for. */
export type Shell = keyof typeof SCRIPTS;

/** The script for a shell. */
export function completionScript(
  shell: Shell,
  commands: readonly Command[],
): string {
  return SCRIPTS[shell](completionTable(commands));
}
