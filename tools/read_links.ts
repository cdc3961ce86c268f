/**
 * The folders that the configuration puts in the place of JSR's packages. They
 * stand for `@std` where JSR can't be reached, and take its code from
 * `deno-std` of npm: a repackaging by somebody else.
 *
 * @module
 */

/**
 * Reads them.
 *
 * @param root The folder of the configuration; its URL ends with a slash.
 * @returns their paths; none where `@std` is JSR's own.
 */
export async function readLinks(root: URL): Promise<readonly string[]> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { links = [] }: { links?: string[] } = JSON.parse(text);
  return links.map((path) => new URL(path, root).pathname);
}
