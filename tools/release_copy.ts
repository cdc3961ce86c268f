/**
 * Makes the copy of the checkout that is published and compiled.
 *
 * Where JSR can't be reached, `links` in `deno.json` replace its `@std` with the
 * code of `deno-std` of npm, which is not by Deno's makers: good enough to
 * develop with, not to be published. The copy has no links: `@std` is JSR's, at
 * the versions of a lock of its own, and the page's script is bundled with it.
 *
 * @module
 */

import { ENTRIES } from "./workspace.ts";

/** Not part of the copy. */
const LEFT_OUT = /^(?:\.git|coverage|dist|node_modules)$/;

/** A copy; it is removed where its scope ends. */
export interface ReleaseCopy extends AsyncDisposable {
  /** Its folder; the URL ends with a slash. */
  readonly root: URL;
}

/** Copies a checkout as it is, for a rehearsal with its links. */
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
 * @param tests What to test (default: all that `deno task test` does).
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
    // Together they import each package of @std.
    const entries = [...ENTRIES.map(({ file }) => file), "tools/release.ts"];
    const flags = ["--quiet", "--frozen=false", "--entrypoint"];
    await deno(["install", ...flags, ...entries], copy.root);
    await deno(["task", "--quiet", "bundle"], copy.root);
    await deno(
      tests.length === 0
        ? ["task", "--quiet", "test"]
        : ["test", "-A", "--no-check", "--quiet", ...tests],
      copy.root,
    );
    return copy;
  } catch (error) {
    await copy[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * The folders that the configuration uses in place of JSR's packages.
 *
 * @param root The folder of the configuration; its URL ends with a slash.
 * @returns their paths; none where `@std` is JSR's own.
 */
export async function readLinks(root: URL): Promise<readonly string[]> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { links = [] }: { links?: string[] } = JSON.parse(text);
  return links.map((path) => new URL(path, root).pathname);
}

/** The values of each `--tests=PATH`, and the arguments besides. */
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
