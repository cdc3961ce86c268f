/**
 * What replaces JSR's `@std` where JSR can't be reached: `links` in `deno.json`,
 * with the code of `deno-std` of npm, which is not by Deno's makers. It is good
 * enough to develop with, not to be published.
 *
 * @module
 */

/**
 * The folders that the configuration uses instead of JSR's packages.
 *
 * @param root The folder of the configuration; its URL ends with a slash.
 * @returns their paths; none where `@std` is JSR's own.
 */
export async function readLinks(root: URL): Promise<readonly string[]> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { links = [] }: { links?: string[] } = JSON.parse(text);
  return links.map((path) => new URL(path, root).pathname);
}

/** Why nothing may be published or released, and what to do; else undefined. */
export async function standInFault(root: URL): Promise<string | undefined> {
  const links = (await readLinks(root))
    .map((path) => path.replace(root.pathname, ""));
  if (links.length === 0) return;
  return `deno.json links ${
    links.join(", ")
  }: @std would be deno-std of npm, ` +
    "a third party's repackaging.\n" +
    '  next: Where JSR can be reached, take "links" out of deno.json, run ' +
    "deno install --frozen=false and deno task bundle, and commit.";
}
