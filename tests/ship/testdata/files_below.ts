/** The files in a folder. @module */

/** Yields the paths of all files below a folder, each beginning with "/". */
export async function* filesBelow(
  folder: string,
  base = "",
): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder + base)) {
    const path = `${base}/${name}`;
    if (isDirectory) yield* filesBelow(folder, path);
    else yield path;
  }
}
