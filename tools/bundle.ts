/**
 * Bundles a module. As a program it writes `web/ui/page.min.js`, the script of
 * the page of `sig web` and `sigLogin`: `deno task bundle`.
 *
 * @module
 */

import { ROOT, runProgram } from "./workspace.ts";

/**
 * Bundles a module to one JavaScript file for platforms without Deno and JSR.
 * Imports of Node's modules remain.
 *
 * @param entry A path from the project's root.
 * @param flags Additional flags of `deno bundle`.
 * @throws {Error} if bundling fails.
 */
export function bundle(
  entry: string,
  ...flags: readonly string[]
): Promise<string> {
  const args = ["--quiet", "--platform=browser", "--external=node:*"];
  return runProgram(Deno.execPath(), ["bundle", ...args, ...flags, entry]);
}

/**
 * Bundles the page's script, with the same result on every machine. In one file
 * everything that a dynamic import reaches is kept, whether or not it is used;
 * so the first step splits the code, and the second joins what the page uses.
 */
export async function bundlePage(): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const split = ["--code-splitting", `--outdir=${folder}`];
    await bundle("web/ui/page.tsx", ...split);
    return await bundle(`${folder}/page.js`, "--minify");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const target = new URL("web/ui/page.min.js", ROOT);
  await Deno.writeTextFile(target, await bundlePage());
}
