/** The test vectors, which may be absent outside CI. @module */

const folder = Deno.env.get("SIG_VECTORS") ??
  new URL("../../../shared/vectors", import.meta.url).pathname;

/** Whether a test that needs a file must run: it is there, or CI says so. */
export function hasVectors(path: string): boolean {
  if (Deno.env.get("SIG_CI") === "1") return true;
  try {
    return Deno.statSync(`${folder}/${path}`).isFile;
  } catch {
    return false;
  }
}

/** Reads a file of the vectors as JSON. */
export function readVectors<T>(path: string): T {
  return JSON.parse(Deno.readTextFileSync(`${folder}/${path}`)) as T;
}
