/** Test vectors made by others, from the folder that CI provides. */

/** The folder. */
export const VECTORS: string = Deno.env.get("SIG_VECTORS") ??
  new URL("../../../shared/vectors", import.meta.url).pathname;

/** The text of one file. */
export function readVectors(path: string): string {
  return Deno.readTextFileSync(`${VECTORS}/${path}`);
}

/** The value of one JSON file. */
export function readJsonVectors<T>(path: string): T {
  return JSON.parse(readVectors(path)) as T;
}

/**
 * A test that needs vector files. Without them it is skipped for all to see,
 * and fails where `SIG_CI=1` promises them. It may not reach the network.
 */
export function vectorTest(
  name: string,
  path: string,
  fn: (t: Deno.TestContext) => void | Promise<void>,
  more: { readonly write?: true } = {},
): void {
  const present = exists(`${VECTORS}/${path}`);
  const ignore = !present && Deno.env.get("SIG_CI") !== "1";
  const permissions = { net: false, read: true, ...more } as const;
  Deno.test({ name, ignore, permissions, fn });
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
