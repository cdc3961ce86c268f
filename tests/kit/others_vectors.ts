/**
 * Reads test vectors outside `vectors/feed`: those of other projects, which
 * `deno task vectors:fetch` downloads, and `vectors/own` and `vectors/proofs`.
 */

import { isCi, ROOT } from "./process.ts";

/** The folders to search; the one in `SIG_VECTORS` is first. */
const FOLDERS: readonly string[] = [
  Deno.env.get("SIG_VECTORS") ?? [],
  "vectors/others",
  "vectors",
].flat().map((folder) => decodeURIComponent(new URL(folder, ROOT).pathname));

/** Returns the path of a file or folder; undefined if it is missing. */
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

/** Returns the path of a file or folder; throws if it is missing. */
export function vectorPath(path: string): string {
  const found = findVectors(path);
  if (found !== undefined) return found;
  throw new Deno.errors.NotFound(
    `There is no ${path}: run deno task vectors:fetch`,
  );
}

/** Reads a text file. */
export function readVectors(path: string): string {
  return Deno.readTextFileSync(vectorPath(path));
}

/** Reads and parses a JSON file. */
export function readJsonVectors<T>(path: string): T {
  return JSON.parse(readVectors(path)) as T;
}

/**
 * Defines a test that needs vector files. Without them it is ignored, or fails
 * with `SIG_CI=1`. By default it may not use the network.
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
