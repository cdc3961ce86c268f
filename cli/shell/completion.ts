/** What may stand where on a command line, for every shell. @module */

import type { Command } from "../command_line/command.ts";
import { flagsOf } from "../command_line/parse_command_line.ts";

/** What a shell offers in a place. */
export type Offer =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "files" }
  | { readonly kind: "folders" }
  | { readonly kind: "nothing" };

/** A flag as shells need it. */
export interface FlagCompletion {
  /** With the dashes. */
  readonly name: string;
  /** What it does. */
  readonly help: string;
  /** May be given again. */
  readonly repeat: boolean;
  /** What may stand behind it; undefined for a switch. */
  readonly value: Offer | undefined;
  /** What its value is, in words. */
  readonly valueName: string;
}

/** A command, under one of its names, as shells need it. */
export interface CommandCompletion {
  /** The name that is typed. */
  readonly name: string;
  /** One line for people. */
  readonly summary: string;
  /** Its flags. */
  readonly flags: readonly FlagCompletion[];
  /** What its words that are no flags may be, in their order. */
  readonly words: readonly { readonly name: string; readonly offer: Offer }[];
}

/** Words and values that name a file, or a folder that may stand for one. */
const FILES = ["FILE", "SOURCE", "OTHER", "CASES", "INVITATION"];
const FOLDERS = ["DIR"];

/** The table of commands, as shells need it: a row for each name. */
export function completionTable(
  commands: readonly Command[],
): readonly CommandCompletion[] {
  return commands.flatMap((command) =>
    [command.name, ...command.aliases ?? []].map((name) => ({
      name,
      summary: command.summary,
      flags: flagsOf(command).map((flag) => ({
        name: `--${flag.name}`,
        help: flag.help,
        repeat: flag.repeat ?? false,
        value: flag.value === undefined
          ? undefined
          : offerOf(flag.value, flag.choices),
        valueName: flag.value ?? "",
      })),
      words: (command.positionals ?? []).map((word) => ({
        name: word.name,
        offer: offerOf(word.name.toUpperCase(), word.choices),
      })),
    }))
  );
}

/** A placeholder such as `FILE|-` tells what is meant. */
function offerOf(
  placeholder: string,
  choices: readonly string[] | undefined,
): Offer {
  if (choices !== undefined) return { kind: "words", words: choices };
  const names = placeholder.split("|");
  if (names.some((name) => FOLDERS.includes(name))) return { kind: "folders" };
  if (names.some((name) => FILES.includes(name))) return { kind: "files" };
  return { kind: "nothing" };
}

/** A text as one word of `sh`, bash and zsh. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
