/** `sig` as a process of its own, started from another folder. @module */

import type { Ran } from "./workspace.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** What a process is given. */
export interface ProcessOptions {
  /** Its working directory; its key store is `keys`, its data folder `data` in there. */
  readonly cwd: string;
  /** Permission flags; all of them unless told. */
  readonly permissions?: readonly string[];
  /** Variables beside the key store's. */
  readonly env?: { readonly [name: string]: string };
  /** `main.ts` unless told. */
  readonly entry?: string;
}

/** The words that start `sig`. */
export function denoArgs(
  args: readonly string[],
  { permissions = ["-A"], entry = "main.ts" }: ProcessOptions,
): string[] {
  return [
    ...["run", "--quiet", "--no-prompt", ...permissions],
    ...["--config", `${ROOT}deno.json`, `${ROOT}cli/${entry}`, ...args],
  ];
}

/** A process with pipes, not started yet. */
export function command(
  args: readonly string[],
  options: ProcessOptions,
): Deno.Command {
  const { cwd, env = {} } = options;
  return new Deno.Command(Deno.execPath(), {
    args: denoArgs(args, options),
    cwd,
    env: {
      SIG_KEYS_DIR: `${cwd}/keys`,
      XDG_DATA_HOME: `${cwd}/data`,
      ...env,
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs `sig` to its end, with nothing on standard input. */
export async function sig(
  args: readonly string[],
  options: ProcessOptions,
): Promise<Ran> {
  const child = command(args, options).spawn();
  await child.stdin.close();
  const { code, stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}
