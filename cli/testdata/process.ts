/** `sig` as a process, started from another folder. @module */

import { type Ran, type Words, wordsOf } from "./workspace.ts";
import { TestProcess } from "../../tests/kit/process.ts";
import { programArgs } from "../../tests/kit/programs.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** Options of a process. */
export interface ProcessOptions {
  /** Working directory, with key store `keys` and data folder `data`. */
  readonly cwd: string;
  /** Permission flags (default: all). */
  readonly permissions?: readonly string[];
  /** Additional environment variables. */
  readonly env?: { readonly [name: string]: string };
  /** A module of the checkout instead of the program (`programArgs`). */
  readonly entry?: string;
}

/** Returns the arguments of `deno` that run `sig`. */
export function denoArgs(
  words: Words,
  { permissions = ["-A"], entry }: ProcessOptions,
): string[] {
  return [
    ...["run", "--quiet", "--no-prompt", ...permissions],
    ...entry === undefined
      ? programArgs("cli")
      : ["--config", `${ROOT}deno.json`, `${ROOT}cli/${entry}`],
    ...wordsOf(words),
  ];
}

/** Returns Deno's own cache, which `XDG_CACHE_HOME` would move. */
function denoDir(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ??
    `${Deno.env.get("HOME")}/.cache`;
  return Deno.env.get("DENO_DIR") ?? `${cache}/deno`;
}

/** Starts `sig`, with an empty standard input unless `stdin` is "open". */
export function start(
  words: Words,
  options: ProcessOptions,
  stdin?: "open",
): TestProcess {
  const { cwd, env = {} } = options;
  return new TestProcess(Deno.execPath(), denoArgs(words, options), {
    cwd,
    env: {
      SIG_KEYS_DIR: `${cwd}/keys`,
      XDG_DATA_HOME: `${cwd}/data`,
      XDG_CACHE_HOME: `${cwd}/cache`,
      DENO_DIR: denoDir(),
      ...env,
    },
    stdin,
  });
}

/** Runs `sig` until it exits, with an empty standard input. */
export async function sig(
  words: Words,
  options: ProcessOptions,
): Promise<Ran> {
  await using child = start(words, options);
  const { code, stdout, stderr } = await child.ended();
  return { code, stdout, stderr };
}
