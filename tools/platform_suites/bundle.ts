/** Bundles a module for platforms that know neither Deno nor JSR. @module */

const ROOT = new URL("../../", import.meta.url);

/**
 * One file of plain JavaScript. Node's modules stay imports, if there are any.
 *
 * @param entry a path from the project's root.
 * @throws {Error} when bundling fails.
 */
export async function bundle(entry: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform=browser", "--external=node:*"],
      entry,
    ],
    cwd: ROOT,
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  if (!success) {
    throw new Error(`Cannot bundle ${entry}: ${text.decode(stderr)}`);
  }
  return text.decode(stdout);
}
