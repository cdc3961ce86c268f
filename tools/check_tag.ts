/**
 * Compares a tag with the version of every package: a release must not carry
 * another name than what is in it. Run by the workflows:
 *
 * ```sh
 * deno run --allow-read tools/check_tag.ts v0.1.0
 * ```
 *
 * @module
 */

const ROOT = new URL("../", import.meta.url);

/** The packages whose version is not the tag's, with their version. */
export async function findOtherVersions(
  tag: string,
): Promise<readonly string[]> {
  const { workspace } = await readConfig("");
  const found: string[] = [];
  for (const path of workspace ?? []) {
    const { name, version } = await readConfig(`${path}/`);
    if (tag !== `v${version}`) found.push(`${name} ${version}`);
  }
  return found;
}

async function readConfig(folder: string): Promise<{
  readonly workspace?: readonly string[];
  readonly name?: string;
  readonly version?: string;
}> {
  const url = new URL(`${folder}deno.json`, ROOT);
  return JSON.parse(await Deno.readTextFile(url));
}

if (import.meta.main) {
  const [tag = ""] = Deno.args;
  const others = await findOtherVersions(tag);
  if (others.length > 0) {
    console.error(
      `Cannot release "${tag}": it is not the version of ${others.join(", ")}`,
    );
    Deno.exit(1);
  }
}
