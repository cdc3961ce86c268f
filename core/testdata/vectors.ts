/** The folder of shared test vectors, and tests that need it. @module */

const ROOT = new URL("../../", import.meta.url);

/** The folder: `SIG_VECTORS`, or `../shared/vectors` from the project's root. */
export const vectorsFolder: URL = new URL(
  `${Deno.env.get("SIG_VECTORS") ?? "../shared/vectors"}/`,
  ROOT,
);

function isPresent(): boolean {
  try {
    return Deno.statSync(vectorsFolder).isDirectory;
  } catch {
    return false;
  }
}

/** Whether this is the run in which nothing may be skipped. */
export const isCi: boolean = Deno.env.get("SIG_CI") === "1";

/** A test that is skipped, visibly, without the vectors; in CI it fails. */
export function vectorTest(
  name: string,
  fn: (folder: URL) => void | Promise<void>,
): void {
  const present = isPresent();
  Deno.test({
    name,
    ignore: !present && !isCi,
    fn: () => {
      if (!present) throw new Error("the test vectors are not there");
      return fn(vectorsFolder);
    },
  });
}

/** A JSON file of the folder. */
export function readVectors<T>(folder: URL, path: string): T {
  return JSON.parse(Deno.readTextFileSync(new URL(path, folder))) as T;
}
