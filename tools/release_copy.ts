/**
 * Creates the copy of the checkout that is published and compiled.
 *
 * For development without access to JSR, `links` in `deno.json` replace `@std`
 * with npm's `deno-std`, which is not by the Deno team and must not be
 * published. The copy has no links: it uses `@std` of JSR at the versions of a
 * separate lock, also in the page's script.
 *
 * @module
 */

import { ENTRIES } from "./workspace.ts";

/** Matches folders that are not copied. */
const LEFT_OUT = /^(?:\.git|coverage|dist|node_modules)$/;

/** A copy, which is removed at the end of its scope. */
export interface ReleaseCopy extends AsyncDisposable {
  /** The folder of the copy; the URL ends with a slash. */
  readonly root: URL;
}

/** Copies a checkout with its links, for a dry run. */
export async function copyCheckout(root: URL): Promise<ReleaseCopy> {
  const folder = await Deno.makeTempDir({ prefix: "sig-release-" });
  await copyFolder(decodeURIComponent(root.pathname), folder);
  return {
    root: new URL(`file://${folder}/`),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/**
 * Copies a checkout without its links, and tests the copy.
 *
 * @param root The checkout; the URL ends with a slash.
 * @param tests Test paths (default: `deno task test`).
 * @throws {Error} if `@std` can't be resolved, or a test fails.
 */
export async function makeReleaseCopy(
  root: URL,
  tests: readonly string[] = [],
): Promise<ReleaseCopy> {
  const copy = await copyCheckout(root);
  try {
    const path = new URL("deno.json", copy.root);
    const { links, ...config } = JSON.parse(await Deno.readTextFile(path));
    if (links !== undefined) {
      await Deno.writeTextFile(path, `${JSON.stringify(config, null, 2)}\n`);
      await Deno.remove(new URL("links", copy.root), { recursive: true });
    }
    // Together these entries import every package of @std.
    const entries = [...ENTRIES.map(({ file }) => file), "tools/release.ts"];
    const flags = ["--quiet", "--frozen=false", "--entrypoint"];
    await deno(["install", ...flags, ...entries], copy.root);
    await deno(["task", "--quiet", "bundle"], copy.root);
    const runs = tests.length === 0
      ? [["task", "--quiet", "test"]]
      : [["test", "-A", "--no-check", "--quiet", ...tests]];
    for (const args of runs) await deno(args, copy.root);
    return copy;
  } catch (error) {
    await copy[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Reads the folders that the configuration uses instead of JSR packages.
 *
 * @param root The folder of the configuration; its URL ends with a slash.
 * @returns their paths; empty if `@std` is that of JSR.
 */
export async function readLinks(root: URL): Promise<readonly string[]> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { links = [] }: { links?: string[] } = JSON.parse(text);
  return links.map((path) => new URL(path, root).pathname);
}

/** Splits arguments into the values of `--tests=PATH` and the rest. */
export function splitTests(args: readonly string[]) {
  const flag = "--tests=";
  return {
    tests: args.filter((arg) => arg.startsWith(flag))
      .map((arg) => arg.slice(flag.length)),
    rest: args.filter((arg) => !arg.startsWith(flag)),
  };
}

async function deno(args: readonly string[], cwd: URL): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), { args: [...args], cwd });
  if ((await child.spawn().status).success) return;
  throw new Error(`deno ${args[0]} failed in a copy of the checkout`);
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(from)) {
    if (LEFT_OUT.test(name) || isSymlink) continue;
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}
