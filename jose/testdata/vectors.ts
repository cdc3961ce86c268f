/** Test vectors made by others, from the folder that CI provides. */

const root = Deno.env.get("SIG_VECTORS") ??
  new URL("../../../shared/vectors", import.meta.url).pathname;

/** The text of one file. */
export function readVectors(path: string): string {
  return Deno.readTextFileSync(`${root}/${path}`);
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
): void {
  const present = exists(`${root}/${path}`);
  const ignore = !present && Deno.env.get("SIG_CI") !== "1";
  Deno.test({ name, ignore, permissions: { net: false, read: true }, fn });
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
