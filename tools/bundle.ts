/**
 * Writes `web/ui/page.min.js`, the script of the page of `sig web` and
 * `sigLogin`, from `web/ui/page.tsx`. Run by `deno task bundle`.
 *
 * @module
 */

const ROOT = new URL("../", import.meta.url);
const TARGET = new URL("web/ui/page.min.js", ROOT);

/**
 * The script, the same on every machine.
 *
 * @throws {Error} when bundling fails.
 */
export async function bundlePage(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform=browser", "--minify"],
      "web/ui/page.tsx",
    ],
    cwd: ROOT,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  throw new Error(`Cannot bundle the page: ${decoder.decode(stderr)}`);
}

if (import.meta.main) await Deno.writeTextFile(TARGET, await bundlePage());
