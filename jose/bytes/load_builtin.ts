/** The runtime's built-in modules, loaded when they are needed. @module */

type Load = (name: string) => unknown;

function loader(): Load | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: Load };
  };
  return process?.getBuiltinModule;
}

/** Whether this runtime has any: Deno, Node.js and Bun do, browsers don't. */
export function hasBuiltins(): boolean {
  return loader() !== undefined;
}

/**
 * A built-in module of Deno and Node.js; undefined where there is none, as in
 * browsers and most workers. By a call instead of an import: browsers can bundle
 * what calls it, and a program that does not get there does not pay for loading
 * (30 to 60 ms for `node:crypto` in Deno).
 *
 * @example
 * ```ts
 * import { loadBuiltin } from "@sig/jose";
 * import { assert } from "@std/assert";
 *
 * const net = loadBuiltin("node:net") as { isIP(text: string): number };
 * assert(net.isIP("::1") === 6);
 * ```
 */
export function loadBuiltin(name: `node:${string}`): unknown {
  try {
    return loader()?.(name);
  } catch {
    // Some workers have the function and refuse the name.
    return undefined;
  }
}
