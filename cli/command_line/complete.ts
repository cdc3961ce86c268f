/** `sig __complete`: shell completion. @module */

import type { FlagSpec } from "@sig/api/program";
import { escapeInvisible } from "@sig/core";
import { type Command, type CommandEntry, flagsOf } from "./command.ts";

/** The candidates at one position of a command line. */
interface Offer {
  /** Candidates, each with a description. */
  readonly candidates: readonly (readonly [word: string, help: string])[];
  /** The kind of paths that the shell itself completes. */
  readonly paths?: "files" | "folders";
}

/** The data that completion needs in addition to the words. */
interface CompletionContext {
  readonly commands: readonly CommandEntry[];
  /** Loads the command that the words begin with; returns the other words. */
  load(words: readonly string[]): Promise<
    | { readonly command: Command; readonly words: readonly string[] }
    | undefined
  >;
  /** Reads the display names of an issuer's directory, by subject. */
  names(dir: string): Promise<ReadonlyMap<string, string>>;
}

/**
 * Completes the last of the words after `sig`. Bash splits `--flag=value` into
 * three words, other shells pass one.
 */
export async function complete(
  words: readonly string[],
  context: CompletionContext,
): Promise<Offer> {
  const word = words.at(-1) ?? "";
  const loaded = await context.load(words.slice(0, -1));
  const names = nextWords(words.slice(0, -1), word, context.commands);
  if (loaded === undefined) return names;
  const { command, words: before } = loaded;
  const flags = flagsOf(command);
  const find = (text: string | undefined) =>
    flags.find((flag) => `--${flag.name}` === text);
  const [, typed, rest] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
  const last = before.at(-1);
  const flag = typed !== undefined
    ? find(typed)
    : word === "="
    ? find(last)
    : find(last === "=" ? before.at(-2) : last);
  if (flag?.value !== undefined) {
    const offer = await valuesOf(flag, before, command, context);
    const start = typed === undefined ? "" : `${typed}=`;
    return starting(start, word === "=" ? "" : rest ?? word, offer);
  }
  if (word.startsWith("-")) {
    const given = new Set(before.map((each) => each.replace(/=.*/s, "")));
    const offered = flags.filter((each) =>
      each.repeat || !given.has(`--${each.name}`)
    );
    return starting("", word, {
      candidates: offered.map((each) => [`--${each.name}`, each.help]),
    });
  }
  const at =
    before.filter((each, i) =>
      !each.startsWith("-") && find(before[i - 1])?.value === undefined
    ).length;
  const positional = command.positionals?.[at];
  if (positional === undefined) return names;
  return starting("", word, offerOf(positional));
}

/** Returns the lines that `sig __complete` prints. */
export function completionLines(
  { candidates, paths }: Offer,
): readonly string[] {
  const lines = candidates.map(([word, help]) =>
    `${word}\t${escapeInvisible(help.split("\n")[0] ?? "")}`
  );
  return paths === undefined ? lines : [...lines, `:${paths}`];
}

/** Offers the next words of the commands whose names begin with `before`. */
function nextWords(
  before: readonly string[],
  word: string,
  commands: readonly CommandEntry[],
): Offer {
  const start = before.map((each) => `${each} `).join("");
  const next = new Map<string, string>();
  for (const { name, summary } of commands) {
    if (!name.startsWith(start)) continue;
    const [first = "", ...rest] = name.slice(start.length).split(" ");
    if (!next.has(first)) next.set(first, rest.length > 0 ? "" : summary);
  }
  if (start === "") {
    next.set("--help", "show the help").set("--version", "show the version");
  }
  return starting("", word, { candidates: [...next] });
}

/** Offers the values of a flag; for a subject, display names and DIDs. */
async function valuesOf(
  flag: FlagSpec,
  before: readonly string[],
  { positionals }: Command,
  context: CompletionContext,
): Promise<Offer> {
  const valueOf = (name: string) => {
    const at = before.findLastIndex((each) => each.startsWith(name));
    const [, value] = /^--[^=]+=(.+)$/s.exec(before[at] ?? "") ?? [];
    const next = before[at + 1] === "=" ? before[at + 2] : before[at + 1];
    return at < 0 ? undefined : value ?? next;
  };
  const [first] = before;
  const word = positionals?.[0]?.name === "source" ? first : undefined;
  // A source without a slash is a host (docs/reference/command-line.md).
  const source = [valueOf("--sig"), word].find((each) => each?.includes("/"));
  const dir = valueOf("--dir") ?? source;
  if (flag.kind !== "subject" || dir === undefined) return offerOf(flag);
  const people = [...await context.names(dir)];
  return {
    candidates: [
      ...people.map(([subject, name]) => [name, subject] as const),
      ...people,
    ],
  };
}

/** Offers the choices, else files or folders by the kind of value. */
function offerOf(
  { choices = [], kind }: Pick<FlagSpec, "choices" | "kind">,
): Offer {
  const candidates = choices.map((each) => [each, ""] as const);
  if (kind === undefined) return { candidates };
  return { candidates, paths: kind === "folder" ? "folders" : "files" };
}

/**
 * Keeps the candidates that begin with `word`, and puts `start` before each.
 */
function starting(start: string, word: string, offer: Offer): Offer {
  return {
    ...offer,
    candidates: offer.candidates.filter(([each]) => each.startsWith(word))
      .map(([each, help]) => [start + each, help] as const),
  };
}
