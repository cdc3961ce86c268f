/**
 * What stands for JSR's `@std` where JSR can't be reached: `links` in
 * `deno.json`, with the code of `deno-std` of npm, a repackaging by others than
 * Deno's makers. Good enough to develop with, not to be handed on.
 *
 * @module
 */

/** How the bundle of the page names code of `deno-std`. */
const BUNDLED = "// npm:deno-std@";
const BUNDLE = "web/ui/app.js";

/**
 * The folders that the configuration puts in the place of JSR's packages.
 *
 * @param root The folder of the configuration; its URL ends with a slash.
 * @returns their paths; none where `@std` is JSR's own.
 */
export async function readLinks(root: URL): Promise<readonly string[]> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { links = [] }: { links?: string[] } = JSON.parse(text);
  return links.map((path) => new URL(path, root).pathname);
}

/** Whether the page's script has code of `deno-std` in it. */
export async function isInBundle(root: URL): Promise<boolean> {
  return (await Deno.readTextFile(new URL(BUNDLE, root))).includes(BUNDLED);
}

/** Why nothing may be handed on to others, and what to do; else undefined. */
export async function standInFault(root: URL): Promise<string | undefined> {
  const links = (await readLinks(root))
    .map((path) => path.replace(root.pathname, ""));
  const places = [
    ...(links.length === 0 ? [] : [`deno.json links ${links.join(", ")}`]),
    ...(await isInBundle(root) ? [`${BUNDLE} is bundled so`] : []),
  ];
  if (places.length === 0) return;
  return `${places.join(", and ")}: @std would be deno-std of npm, a third ` +
    "party's repackaging.\n" +
    '  next: Where JSR can be reached, take "links" out of deno.json, run ' +
    "deno install --frozen=false and deno task bundle-ui, and commit.";
}
