/**
 * Bundles a module. As a program it writes `web/ui/page.min.js`, the script of
 * the page of `sig web` and `sigLogin`: `deno task bundle`.
 *
 * @module
 */

import { ROOT, runProgram } from "./workspace.ts";

/**
 * One file of plain JavaScript, for platforms that know neither Deno nor JSR.
 * Node's modules stay imports, if there are any.
 *
 * @param entry A path from the project's root.
 * @param flags More flags of `deno bundle`.
 * @throws {Error} when bundling fails.
 */
export function bundle(
  entry: string,
  ...flags: readonly string[]
): Promise<string> {
  const args = ["--quiet", "--platform=browser", "--external=node:*"];
  return runProgram(Deno.execPath(), ["bundle", ...args, ...flags, entry]);
}

/** The page's script, the same on every machine. */
export function bundlePage(): Promise<string> {
  return bundle("web/ui/page.tsx", "--minify");
}

if (import.meta.main) {
  const target = new URL("web/ui/page.min.js", ROOT);
  await Deno.writeTextFile(target, await bundlePage());
}
