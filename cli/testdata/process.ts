/** `sig` as a process of its own, started from another folder. @module */

import { type Ran, type Words, wordsOf } from "./workspace.ts";
import { TestProcess } from "../../tests/kit/process.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** What a process is given. */
export interface ProcessOptions {
  /** Its working directory; its key store is `keys`, its data folder `data` in there. */
  readonly cwd: string;
  /** Permission flags (default: all). */
  readonly permissions?: readonly string[];
  /** Variables beside the key store's. */
  readonly env?: { readonly [name: string]: string };
  /** The file that is run (default: `main.ts`). */
  readonly entry?: string;
}

/** The words that start `sig`. */
export function denoArgs(
  words: Words,
  { permissions = ["-A"], entry = "main.ts" }: ProcessOptions,
): string[] {
  return [
    ...["run", "--quiet", "--no-prompt", ...permissions],
    ...[
      "--config",
      `${ROOT}deno.json`,
      `${ROOT}cli/${entry}`,
      ...wordsOf(words),
    ],
  ];
}

/** Starts `sig`; its standard input is `stdin`, nothing by default. */
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
      ...env,
    },
    stdin,
  });
}

/** Runs `sig` to its end, with nothing on standard input. */
export async function sig(
  words: Words,
  options: ProcessOptions,
): Promise<Ran> {
  await using child = start(words, options);
  const { code, stdout, stderr } = await child.ended();
  return { code, stdout, stderr };
}
