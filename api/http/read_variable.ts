/** The environment of a deployment, one variable at a time. @module */

/**
 * A variable, undefined when it is unset, empty or may not be read: a server
 * that is given no permissions runs on its defaults.
 *
 * @example
 * ```ts
 * import { readVariable } from "@sig/api/http";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readVariable("SIG_NO_SUCH_VARIABLE"), undefined);
 * ```
 */
export function readVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name) || undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/**
 * A variable that holds a list, separated by commas.
 *
 * @example
 * ```ts
 * import { readList } from "@sig/api/http";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readList("SIG_NO_SUCH_VARIABLE"), []);
 * ```
 */
export function readList(name: string): readonly string[] {
  return (readVariable(name) ?? "").split(",").map((each) => each.trim())
    .filter((each) => each !== "");
}
