/**
 * Test vectors that are read from outside of `vectors/feed`: those of other
 * projects, which `deno task vectors:fetch` brings, and `vectors/own` and
 * `vectors/proofs`. @module
 */

const ROOT = new URL("../../", import.meta.url);

/** `SIG_VECTORS` names a folder that is searched first. */
const FOLDERS: readonly string[] = [
  Deno.env.get("SIG_VECTORS") ?? [],
  "vectors/others",
  "vectors",
].flat().map((folder) => decodeURIComponent(new URL(folder, ROOT).pathname));

/** Whether this is the run in which nothing may be skipped. */
export const isCi: boolean = Deno.env.get("SIG_CI") === "1";

/** Where a file or folder is; undefined where it is missing. */
export function findVectors(path: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}/${path}`).find((candidate) => {
    try {
      return Deno.statSync(candidate) !== undefined;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  });
}

/** The path of a file or folder that must be there. */
export function vectorPath(path: string): string {
  const found = findVectors(path);
  if (found !== undefined) return found;
  throw new Deno.errors.NotFound(
    `There is no ${path}: run deno task vectors:fetch`,
  );
}

/** The text of one file. */
export function readVectors(path: string): string {
  return Deno.readTextFileSync(vectorPath(path));
}

/** The value of one JSON file. */
export function readJsonVectors<T>(path: string): T {
  return JSON.parse(readVectors(path)) as T;
}

/**
 * A test that needs vector files. Without them it is named as ignored, and
 * fails where `SIG_CI=1` promises them. It may not reach the network.
 */
export function vectorTest(
  name: string,
  path: string,
  fn: (t: Deno.TestContext) => void | Promise<void>,
  more: { readonly net?: true; readonly write?: true } = {},
): void {
  const ignore = !isCi && findVectors(path) === undefined;
  const permissions = { net: false, read: true, ...more } as const;
  Deno.test({ name, ignore, permissions, fn });
}
